//! One profile of the file, with checked values and their places.

use super::at::At;
use super::choice::{BaselineMode, MaxFail, Unreferenced};
use super::error::ConfigError;
use super::file::{RawOverride, RawProfile, RawWaiver};
use super::origin::{Found, Origin};
use super::rule::{Override, WaiverRule};
use super::span::Span;
use crate::excerpt::Excerpt;
use crate::filter::Expression;
use crate::waiver::Waiver;
use npugate_schema::FlakyResult;
use std::{
    num::NonZero,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// One profile of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    /// The profile that it inherits, if it names one.
    pub inherits: Option<At<String>>,
    /// What it sets.
    pub values: Values,
    /// What it sets for some tests.
    pub overrides: Vec<Override>,
    /// What it waives.
    pub waivers: Vec<WaiverRule>,
}

/// What a profile sets for all tests. Paths are absolute.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values {
    /// How many models run in parallel.
    pub jobs: Option<Found<NonZero<usize>>>,
    /// How many tests may fail before no more tests start.
    pub max_fail: Option<Found<MaxFail>>,
    /// How often a failing test is retried.
    pub retries: Option<Found<u32>>,
    /// How to count a test that fails and then passes on a retry.
    pub flaky: Option<Found<FlakyResult>>,
    /// How long a test may run before it is reported as slow.
    pub slow: Option<Found<Span>>,
    /// How long a test may run before it is terminated.
    pub timeout: Option<Found<Span>>,
    /// How long a test that is terminated has to end by itself before it is killed.
    pub grace: Option<Found<Span>>,
    /// The file whose lock guards an exclusive device.
    pub lock: Option<Found<PathBuf>>,
    /// How long to wait for a device that another process holds.
    pub lock_timeout: Option<Found<Span>>,
    /// What a run does with baselines.
    pub baseline: Option<Found<BaselineMode>>,
    /// What a run does about baselines and goldens that nothing refers to.
    pub unreferenced: Option<Found<Unreferenced>>,
    /// Where to write a JUnit report.
    pub junit: Option<Found<PathBuf>>,
    /// Where to write the results.
    pub results: Option<Found<PathBuf>>,
}

impl Values {
    /// These values, with the others where these are not set.
    pub fn or(self, other: Self) -> Self {
        Self {
            jobs: self.jobs.or(other.jobs),
            max_fail: self.max_fail.or(other.max_fail),
            retries: self.retries.or(other.retries),
            flaky: self.flaky.or(other.flaky),
            slow: self.slow.or(other.slow),
            timeout: self.timeout.or(other.timeout),
            grace: self.grace.or(other.grace),
            lock: self.lock.or(other.lock),
            lock_timeout: self.lock_timeout.or(other.lock_timeout),
            baseline: self.baseline.or(other.baseline),
            unreferenced: self.unreferenced.or(other.unreferenced),
            junit: self.junit.or(other.junit),
            results: self.results.or(other.results),
        }
    }
}

/// Where a profile is read from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The file, as it is shown.
    pub file: Arc<str>,
    /// Its text.
    pub text: &'a str,
    /// The profile.
    pub profile: Arc<str>,
    /// The folder that relative paths start from.
    pub root: &'a Path,
}

impl Source<'_> {
    /// Checks a profile.
    ///
    /// # Errors
    ///
    /// A value that makes no sense, with its place.
    pub fn layer(&self, raw: RawProfile) -> Result<Layer, ConfigError> {
        let max_fail = self.max_fail(&raw)?;
        let path = |path: At<PathBuf>| {
            let found = self.found(path);
            Found { value: self.root.join(found.value), origin: found.origin }
        };
        let values = Values {
            jobs: raw.jobs.map(|jobs| self.found(jobs)),
            max_fail,
            retries: raw.retries.map(|retries| self.found(retries)),
            flaky: raw.flaky_result.map(|flaky| self.found(flaky)),
            slow: raw.slow.map(|slow| self.found(slow)),
            timeout: raw.timeout.map(|timeout| self.found(timeout)),
            grace: raw.grace.map(|grace| self.found(grace)),
            lock: raw.lock.map(path),
            lock_timeout: raw.lock_timeout.map(|timeout| self.found(timeout)),
            baseline: raw.baseline.map(|baseline| self.found(baseline)),
            unreferenced: raw.unreferenced.map(|unreferenced| self.found(unreferenced)),
            junit: raw.junit.map(path),
            results: raw.results.map(path),
        };
        let overrides = raw.overrides.into_iter().map(|one| self.overriding(one));
        let waivers = raw.waivers.into_iter().map(|one| self.waiver(one));
        Ok(Layer {
            inherits: raw.inherits,
            values,
            overrides: overrides.collect::<Result<_, _>>()?,
            waivers: waivers.collect::<Result<_, _>>()?,
        })
    }

    /// An error about a place in the file.
    pub fn error(&self, at: &Range<usize>, message: impl Into<String>) -> ConfigError {
        ConfigError::place(&self.file, self.text, at, message)
    }

    fn max_fail(&self, raw: &RawProfile) -> Result<Option<Found<MaxFail>>, ConfigError> {
        match (&raw.max_fail, &raw.fail_fast) {
            (Some(At { at, .. }), Some(_)) => {
                let message = "a profile may have `fail-fast` or `max-fail`, but not both";
                Err(self.error(at, message))
            }
            (Some(At { value, at }), None) => {
                Ok(Some(Found { value: MaxFail::After(*value), origin: self.origin(at) }))
            }
            (None, Some(At { value, at })) => {
                let value =
                    if *value { MaxFail::After(NonZero::<usize>::MIN) } else { MaxFail::Never };
                Ok(Some(Found { value, origin: self.origin(at) }))
            }
            (None, None) => Ok(None),
        }
    }

    fn overriding(&self, At { value: raw, at }: At<RawOverride>) -> Result<Override, ConfigError> {
        let RawOverride { filter, slow, timeout, grace, retries, flaky_result } = raw;
        let one = Override {
            origin: self.origin(&filter.at),
            filter: self.expression(&filter)?,
            slow: slow.map(|slow| self.found(slow)),
            timeout: timeout.map(|timeout| self.found(timeout)),
            grace: grace.map(|grace| self.found(grace)),
            retries: retries.map(|retries| self.found(retries)),
            flaky: flaky_result.map(|flaky| self.found(flaky)),
        };
        let nothing = one.slow.is_none()
            && one.timeout.is_none()
            && one.grace.is_none()
            && one.retries.is_none()
            && one.flaky.is_none();
        if nothing {
            let message = "this override sets nothing: give it a slow, timeout, grace, retries or flaky-result";
            return Err(self.error(&at, message));
        }
        Ok(one)
    }

    fn waiver(&self, At { value: raw, .. }: At<RawWaiver>) -> Result<WaiverRule, ConfigError> {
        let RawWaiver { filter, metric, limit, reason, expires } = raw;
        if metric.value.trim().is_empty() {
            return Err(
                self.error(&metric.at, "a waiver must name the metric whose limit it loosens")
            );
        }
        if !limit.value.is_finite() {
            return Err(self.error(&limit.at, "the limit of a waiver must be a finite number"));
        }
        if reason.value.trim().is_empty() {
            return Err(self.error(&reason.at, "a waiver must give a reason: this one is empty"));
        }
        Ok(WaiverRule {
            origin: self.origin(&filter.at),
            filter: self.expression(&filter)?,
            waiver: Waiver {
                metric: metric.value,
                limit: limit.value,
                reason: reason.value.trim().to_owned(),
                expires: expires.value.0,
            },
        })
    }

    /// Reads an expression; an error points into the file.
    fn expression(&self, filter: &At<String>) -> Result<Expression, ConfigError> {
        filter.value.parse().map_err(|error: crate::filter::FilterError| {
            let at = match content(self.text, filter) {
                Some(start) => start + error.at.start..start + error.at.end,
                None => filter.at.clone(),
            };
            self.error(&at, error.message)
        })
    }

    fn found<T>(&self, At { value, at }: At<T>) -> Found<T> {
        Found { value, origin: self.origin(&at) }
    }

    fn origin(&self, at: &Range<usize>) -> Origin {
        Origin::File {
            file: self.file.clone(),
            line: Excerpt::new(self.text, at).line,
            profile: self.profile.clone(),
        }
    }
}

/// Where the characters of a string begin, if the file has them without escapes.
fn content(text: &str, string: &At<String>) -> Option<usize> {
    let written = text.get(string.at.clone())?;
    let quotes = ["'''\r\n", "'''\n", "'''", "\"\"\"\r\n", "\"\"\"\n", "\"\"\"", "'", "\""];
    let quote = quotes.into_iter().find(|quote| written.starts_with(quote))?;
    written[quote.len()..].starts_with(&string.value).then_some(string.at.start + quote.len())
}

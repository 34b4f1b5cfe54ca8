//! A profile with all that it inherits, and its settings for one test.

use super::layer::{Layer, Values};
use super::origin::{Found, Origin};
use super::rule::{Override, Unmatched, WaiverRule};
use super::span::Span;
use crate::filter::Facts;
use crate::settings::TestSettings;
use crate::waiver::Waiver;
use npugate_schema::{FlakyResult, TimeLimits};
use std::time::Duration;

/// A profile with all that it inherits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Profile {
    /// Its name, and the names of the profiles that it inherits.
    pub names: Vec<String>,
    /// What it sets for all tests.
    pub values: Values,
    /// What it sets for some tests; the first override that gives a setting wins.
    pub(super) overrides: Vec<Override>,
    /// What it waives.
    pub(super) waivers: Vec<WaiverRule>,
}

/// The settings of a test, and where each comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Settled<'a> {
    /// How long it may run before it is reported as slow.
    pub slow: Found<Duration>,
    /// How long it may run before it is terminated.
    pub timeout: Found<Duration>,
    /// How long it then has to end by itself before it is killed.
    pub grace: Found<Duration>,
    /// How often it is retried if it does not pass.
    pub retries: Found<u32>,
    /// How to count it if it then passes.
    pub flaky: Found<FlakyResult>,
    /// What is waived for it.
    pub waivers: Vec<&'a WaiverRule>,
}

impl Profile {
    /// Combines layers; earlier layers override later ones.
    pub(super) fn new(names: Vec<String>, layers: impl IntoIterator<Item = Layer>) -> Self {
        let mut profile =
            Self { names, values: Values::default(), overrides: Vec::new(), waivers: Vec::new() };
        for Layer { values, overrides, waivers, .. } in layers {
            profile.values = profile.values.or(values);
            profile.overrides.extend(overrides);
            profile.waivers.extend(waivers);
        }
        profile
    }

    /// How to run a test whose check declares these limits, and what is waived for it.
    pub fn test(&self, facts: &Facts<'_>, limits: TimeLimits) -> (TestSettings, Vec<Waiver>) {
        let settled = self.settle(facts, limits);
        let settings = TestSettings {
            slow: settled.slow.value,
            timeout: settled.timeout.value,
            grace: settled.grace.value,
            retries: settled.retries.value,
            flaky: settled.flaky.value,
        };
        (settings, settled.waivers.iter().map(|rule| rule.waiver.clone()).collect())
    }

    /// The settings of a test, and where each comes from.
    pub fn settle(&self, facts: &Facts<'_>, limits: TimeLimits) -> Settled<'_> {
        let Values { slow, timeout, grace, retries, flaky, .. } = &self.values;
        let overrides: Vec<_> =
            self.overrides.iter().filter(|one| one.filter.matches(facts)).collect();
        let declared = TestSettings::from(limits);
        let span =
            |first: Option<&Found<Span>>, all: &Option<Found<Span>>, else_: Found<Duration>| {
                first.or(all.as_ref()).map_or(else_, |found| Found {
                    value: found.duration(),
                    origin: found.origin.clone(),
                })
            };
        let check = |value| Found { value, origin: Origin::Check };
        Settled {
            slow: span(
                overrides.iter().find_map(|one| one.slow.as_ref()),
                slow,
                check(declared.slow),
            ),
            timeout: span(
                overrides.iter().find_map(|one| one.timeout.as_ref()),
                timeout,
                check(declared.timeout),
            ),
            grace: span(
                overrides.iter().find_map(|one| one.grace.as_ref()),
                grace,
                Found::built_in(declared.grace),
            ),
            retries: overrides
                .iter()
                .find_map(|one| one.retries.clone())
                .or_else(|| retries.clone())
                .unwrap_or_else(|| Found::built_in(declared.retries)),
            flaky: overrides
                .iter()
                .find_map(|one| one.flaky.clone())
                .or_else(|| flaky.clone())
                .unwrap_or_else(|| Found::built_in(declared.flaky)),
            waivers: self.waivers.iter().filter(|rule| rule.filter.matches(facts)).collect(),
        }
    }

    /// The overrides and waivers that match none of these tests. Only useful for a full
    /// run: in others their tests may just not be selected.
    pub fn unmatched(&self, facts: &[Facts<'_>]) -> Vec<Unmatched> {
        let overrides = self.overrides.iter().filter_map(|one| one.unmatched(facts));
        overrides.chain(self.waivers.iter().filter_map(|rule| rule.unmatched(facts))).collect()
    }
}

#[cfg(test)]
#[path = "resolved_tests.rs"]
mod tests;

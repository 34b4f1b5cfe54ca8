//! The file as it is written.

use super::at::At;
use super::choice::{BaselineMode, Unreferenced};
use super::span::Span;
use jiff::civil::Date;
use npugate_schema::FlakyResult;
use serde::Deserialize;
use std::{collections::BTreeMap, num::NonZero, path::PathBuf};
use toml::value::Datetime;

/// `.config/npugate.toml`: how `cargo npugate` runs tests.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "npugate configuration"))]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    /// The profiles, by name. `default` is used if no other is chosen.
    #[serde(default)]
    pub profile: BTreeMap<String, RawProfile>,
}

/// A profile. It inherits the settings that it does not give.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Profile"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawProfile {
    /// The profile to inherit settings from; `default` if it is not given.
    pub inherits: Option<At<String>>,
    /// The number of models to run in parallel on a device that can be shared.
    pub jobs: Option<At<NonZero<usize>>>,
    /// Whether to stop the run at the first failure.
    pub fail_fast: Option<At<bool>>,
    /// The number of failures after which the run stops.
    pub max_fail: Option<At<NonZero<usize>>>,
    /// How often a failing test is retried.
    pub retries: Option<At<u32>>,
    /// How to count a test that fails and then passes on a retry.
    #[cfg_attr(test, schemars(with = "Option<super::schema::FlakyResultSchema>"))]
    pub flaky_result: Option<At<FlakyResult>>,
    /// How long a test may run before it is reported as slow.
    pub slow: Option<At<Span>>,
    /// How long a test may run before it is terminated.
    pub timeout: Option<At<Span>>,
    /// How long a test that is terminated has to end by itself before it is killed.
    pub grace: Option<At<Span>>,
    /// The file whose lock guards an exclusive device.
    pub lock: Option<At<PathBuf>>,
    /// How long to wait for a device that another process holds.
    pub lock_timeout: Option<At<Span>>,
    /// What to do with baselines.
    pub baseline: Option<At<BaselineMode>>,
    /// What to do about baselines and goldens that nothing refers to.
    pub unreferenced: Option<At<Unreferenced>>,
    /// Where to write a JUnit report.
    pub junit: Option<At<PathBuf>>,
    /// Where to write the results, for `cargo npugate merge`.
    pub results: Option<At<PathBuf>>,
    /// Settings for the tests that match an expression; the first override that
    /// gives a setting wins.
    #[serde(default)]
    pub overrides: Vec<At<RawOverride>>,
    /// Limits that are loosened for a time.
    #[serde(default)]
    pub waivers: Vec<At<RawWaiver>>,
}

/// Settings for some tests.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Override"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawOverride {
    /// An expression that selects the tests, as with `-E`.
    pub filter: At<String>,
    /// How long a test may run before it is reported as slow.
    pub slow: Option<At<Span>>,
    /// How long a test may run before it is terminated.
    pub timeout: Option<At<Span>>,
    /// How long a test that is terminated has to end by itself before it is killed.
    pub grace: Option<At<Span>>,
    /// How often a failing test is retried.
    pub retries: Option<At<u32>>,
    /// How to count a test that fails and then passes on a retry.
    #[cfg_attr(test, schemars(with = "Option<super::schema::FlakyResultSchema>"))]
    pub flaky_result: Option<At<FlakyResult>>,
}

/// A limit that is loosened for a time.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Waiver"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawWaiver {
    /// An expression that selects the tests, as with `-E`.
    pub filter: At<String>,
    /// The metric's key, such as `R_p95` or `layer07.cosine`.
    pub metric: At<String>,
    /// The limit that replaces the gate's own.
    pub limit: At<f64>,
    /// Why the failure is waived.
    pub reason: At<String>,
    /// The last day on which the waiver applies, as a TOML date.
    pub expires: At<Day>,
}

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "Datetime")]
pub struct Day(pub Date);

/// A date with a time, or one that is not in the calendar.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a day: write it as 2027-01-31, without quotes or a time")]
pub struct DayError(Datetime);

impl TryFrom<Datetime> for Day {
    type Error = DayError;

    fn try_from(datetime: Datetime) -> Result<Self, DayError> {
        let error = || DayError(datetime);
        let Datetime { date: Some(date), time: None, offset: None } = datetime else {
            return Err(error());
        };
        // The parser ensures that these have two digits each.
        let (month, day) = (date.month.cast_signed(), date.day.cast_signed());
        let year = i16::try_from(date.year).map_err(|_| error())?;
        Date::new(year, month, day).map(Self).map_err(|_| error())
    }
}

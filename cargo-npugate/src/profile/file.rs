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
    /// The profiles, by name. `default` holds where no other is chosen.
    #[serde(default)]
    pub profile: BTreeMap<String, RawProfile>,
}

/// A profile. What it does not say is as in the one that it inherits.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Profile"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawProfile {
    /// The profile that holds where this one says nothing; `default` unless it says so.
    pub inherits: Option<At<String>>,
    /// How many models run at a time.
    pub jobs: Option<At<NonZero<usize>>>,
    /// Whether the first failure ends the run.
    pub fail_fast: Option<At<bool>>,
    /// How many failures end the run.
    pub max_fail: Option<At<NonZero<usize>>>,
    /// How often a test that does not pass is run again.
    pub retries: Option<At<u32>>,
    /// What a test counts as that failed and then passed.
    #[cfg_attr(test, schemars(with = "Option<super::schema::FlakyResultSchema>"))]
    pub flaky_result: Option<At<FlakyResult>>,
    /// After this long a test is named as slow.
    pub slow: Option<At<Span>>,
    /// After this long a test is ended.
    pub timeout: Option<At<Span>>,
    /// How long a test that is ended has to end by itself.
    pub grace: Option<At<Span>>,
    /// The file that an exclusive device is locked by.
    pub lock: Option<At<PathBuf>>,
    /// How long to wait for a device that another process holds.
    pub lock_timeout: Option<At<Span>>,
    /// What a run does with baselines.
    pub baseline: Option<At<BaselineMode>>,
    /// What happens to baselines and goldens that nothing refers to.
    pub unreferenced: Option<At<Unreferenced>>,
    /// Where a JUnit report is written.
    pub junit: Option<At<PathBuf>>,
    /// Where the results are written, for `cargo npugate merge`.
    pub results: Option<At<PathBuf>>,
    /// Settings of the tests that an expression describes; the first that sets
    /// one holds.
    #[serde(default)]
    pub overrides: Vec<At<RawOverride>>,
    /// Limits that are loosened for a time.
    #[serde(default)]
    pub waivers: Vec<At<RawWaiver>>,
}

/// Settings of some tests.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Override"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawOverride {
    /// The tests, as of `-E`.
    pub filter: At<String>,
    /// After this long a test is named as slow.
    pub slow: Option<At<Span>>,
    /// After this long a test is ended.
    pub timeout: Option<At<Span>>,
    /// How long a test that is ended has to end by itself.
    pub grace: Option<At<Span>>,
    /// How often a test that does not pass is run again.
    pub retries: Option<At<u32>>,
    /// What a test counts as that failed and then passed.
    #[cfg_attr(test, schemars(with = "Option<super::schema::FlakyResultSchema>"))]
    pub flaky_result: Option<At<FlakyResult>>,
}

/// A limit that is loosened for a time.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Waiver"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawWaiver {
    /// The tests, as of `-E`.
    pub filter: At<String>,
    /// The metric's key, such as `R_p95` or `layer07.cosine`.
    pub metric: At<String>,
    /// The limit in place of the gate's own.
    pub limit: At<f64>,
    /// Why the failure is let pass.
    pub reason: At<String>,
    /// The last day on which it is, as a TOML date.
    pub expires: At<Day>,
}

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "Datetime")]
pub struct Day(pub Date);

/// A date with a time, or none that the calendar has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no day: write it as 2027-01-31, without quotes or a time")]
pub struct DayError(Datetime);

impl TryFrom<Datetime> for Day {
    type Error = DayError;

    fn try_from(datetime: Datetime) -> Result<Self, DayError> {
        let error = || DayError(datetime);
        let Datetime { date: Some(date), time: None, offset: None } = datetime else {
            return Err(error());
        };
        // The parser has seen to it that these are two digits each.
        let (month, day) = (date.month.cast_signed(), date.day.cast_signed());
        let year = i16::try_from(date.year).map_err(|_| error())?;
        Date::new(year, month, day).map(Self).map_err(|_| error())
    }
}

//! Why the command wrote a record in a test's place.

use serde::{Deserialize, Serialize};

/// Why the command wrote a record in a test's place: the test did not run to a verdict of
/// its own. The outcome says how a test that did run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotRun {
    /// The user ended the run first.
    Interrupted,
    /// The run ended first, after the maximum number of failures.
    MaxFail,
    /// The device is missing, or another process holds it.
    NoDevice,
    /// The gate could not write a file.
    CannotWrite,
    /// The gate died too many times, or before any test.
    GivenUp,
    /// The gate listed the test but did not run it.
    Omitted,
    /// The adapter no longer has the test, but its baseline does.
    Gone,
}

impl NotRun {
    /// Whether the run ended before the test: nobody waited for its verdict.
    pub fn run_ended(self) -> bool {
        matches!(self, Self::Interrupted | Self::MaxFail)
    }
}

//! Why the command wrote a record in a test's place.

use serde::{Deserialize, Serialize};

/// Why the command wrote a record in a test's place: the test did not run to a verdict of
/// its own. How a test that did run ended is its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotRun {
    /// The user ended the run first.
    Interrupted,
    /// The run ended first, after as many failures as it may have.
    MaxFail,
    /// The device is missing, or another process holds it.
    NoDevice,
    /// The gate could not write what it has to.
    CannotWrite,
    /// The gate died too often, or before any test.
    GivenUp,
    /// The gate listed the test and did not run it.
    Omitted,
    /// The adapter no longer has the test; its baseline does.
    Gone,
}

impl NotRun {
    /// Whether the run ended before the test: nobody waited for its verdict.
    pub fn run_ended(self) -> bool {
        matches!(self, Self::Interrupted | Self::MaxFail)
    }
}

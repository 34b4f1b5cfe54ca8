//! How a test ended.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a test ended. Only [`Outcome::Passed`] and [`Outcome::Waived`] are good;
/// a check that could not judge is never a pass.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Every gated metric kept its limit.
    Passed,
    /// A gated metric broke its limit, or running the test failed.
    Failed,
    /// The metrics keep their limits but got worse than the accepted baseline.
    Regressed,
    /// The check cannot judge: nothing was compared, the reference is degenerate or
    /// missing, or hashes or token ids differ.
    Invalid {
        /// Why it cannot judge.
        reason: String,
    },
    /// The test could not run here.
    Skipped {
        /// Why not.
        reason: String,
    },
    /// The test is off by default and was not asked for.
    Ignored {
        /// Why it is off, and how to turn it on.
        reason: String,
    },
    /// The test failed, and a waiver with a reason covers it.
    Waived {
        /// The waiver's reason.
        reason: String,
    },
    /// The process died in this test.
    Crashed {
        /// The signal or the exit status.
        reason: String,
    },
    /// The test did not end before its deadline.
    TimedOut {
        /// The deadline in seconds.
        seconds: u64,
    },
    /// The test failed, then passed on a retry.
    Flaky {
        /// The attempt that passed, from 1 up.
        attempt: u32,
        /// The maximum number of attempts.
        attempts: u32,
        /// How the test counts.
        result: FlakyResult,
    },
}

/// How a test that failed and then passed on a retry counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlakyResult {
    /// As a failure: the retry only shows what kind of failure it is.
    #[default]
    Fail,
    /// As a success.
    Pass,
}

impl Outcome {
    /// Whether a run with this outcome may still exit with 0.
    pub fn is_good(&self) -> bool {
        matches!(
            self,
            Self::Passed
                | Self::Waived { .. }
                | Self::Ignored { .. }
                | Self::Flaky { result: FlakyResult::Pass, .. }
        )
    }

    /// The reason that goes with the outcome, if it has one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Invalid { reason }
            | Self::Skipped { reason }
            | Self::Ignored { reason }
            | Self::Waived { reason }
            | Self::Crashed { reason } => Some(reason),
            Self::Passed
            | Self::Failed
            | Self::Regressed
            | Self::TimedOut { .. }
            | Self::Flaky { .. } => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flaky { attempt, attempts, .. } => {
                return write!(f, "flaky {attempt}/{attempts}");
            }
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Regressed => "regressed",
            Self::Invalid { .. } => "invalid",
            Self::Skipped { .. } => "skipped",
            Self::Ignored { .. } => "ignored",
            Self::Waived { .. } => "waived",
            Self::Crashed { .. } => "crashed",
            Self::TimedOut { .. } => "timed out",
        })
    }
}

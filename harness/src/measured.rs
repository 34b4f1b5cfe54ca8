//! What a check measured, or why it did not measure anything.

use crate::schema::Metric;
use crate::{RunError, goldens::GoldenError, metrics::CompareError};
use std::path::PathBuf;

/// What a check measured. Its metrics decide: those that have a limit and a direction are
/// gated, the others are recorded and compared with the baseline.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Measured {
    /// Every number; the limits of those that have one are binding.
    pub metrics: Vec<Metric>,
    /// What was compared, in one sentence. It is the verdict of a pass, and is added to the
    /// verdict of a failure.
    pub note: Option<String>,
    /// Files for whoever looks into a failure.
    pub attachments: Vec<PathBuf>,
}

/// Why a check ended without numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// What is tested is wrong: the test fails.
    Fail(String),
    /// What is tested is wrong, and the device accepts no more work: the test fails and
    /// the process ends.
    Lost(String),
    /// The check cannot judge: the test is invalid, which is never a pass.
    Invalid(String),
}

pub(crate) type CheckResult = Result<Measured, Stop>;

impl Measured {
    /// Metrics without a note.
    pub fn of(metrics: impl Into<Vec<Metric>>) -> Self {
        Self { metrics: metrics.into(), ..Self::default() }
    }

    /// The same with a sentence that becomes the verdict of a pass.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The same with a file for whoever looks into a failure.
    #[must_use]
    pub fn attached(mut self, path: impl Into<PathBuf>) -> Self {
        self.attachments.push(path.into());
        self
    }
}

impl Stop {
    /// The goldens lack the reference that the profile is judged by.
    pub(crate) fn no_declared_reference() -> Self {
        Self::Invalid(
            "the kernels declare BFP16, but the goldens have no reference in that arithmetic; record them again"
                .to_owned(),
        )
    }
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        if error.is_setup() {
            Self::Invalid(error.to_string())
        } else if error.is_lost() {
            Self::Lost(error.to_string())
        } else {
            Self::Fail(error.to_string())
        }
    }
}

impl From<GoldenError> for Stop {
    fn from(error: GoldenError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<CompareError> for Stop {
    /// A comparison that cannot be made is the device's fault, unless the reference is
    /// empty, degenerate or not finite.
    fn from(error: CompareError) -> Self {
        if error.blames_reference() {
            Self::Invalid(error.to_string())
        } else {
            Self::Fail(error.to_string())
        }
    }
}

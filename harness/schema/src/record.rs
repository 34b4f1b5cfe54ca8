//! What one run of one test left behind.

use crate::{FlakyResult, Metric, NotRun, Outcome};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What one run of one test left behind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Record {
    /// Stable name of the test, such as `block::layer00::cosine`.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// One line that says by how much: `cosine 0.99921 >= 0.99 (8 % of the
    /// allowed error used)`, or what went wrong.
    pub verdict: String,
    /// Every number that was measured.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Files that it left behind for investigating a failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<PathBuf>,
    /// Why the test did not run, if the command wrote this record in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<NotRun>,
}

impl Record {
    /// The record of a test that measured nothing and took no time.
    pub fn new(name: impl Into<String>, outcome: Outcome, verdict: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            outcome,
            verdict: verdict.into(),
            metrics: Vec::new(),
            seconds: 0.0,
            attachments: Vec::new(),
            not_run: None,
        }
    }

    /// The same with what was measured.
    #[must_use]
    pub fn measured(mut self, metrics: Vec<Metric>) -> Self {
        self.metrics = metrics;
        self
    }

    /// The same with the seconds that it took.
    #[must_use]
    pub fn took(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    /// The gated metric that uses the most of its allowed error, with that share.
    /// A metric whose error is not a number counts as the tightest.
    pub fn tightest(&self) -> Option<(&Metric, f64)> {
        self.metrics
            .iter()
            .filter_map(|metric| Some((metric, metric.used()?)))
            .map(|(metric, used)| (metric, if used.is_nan() { f64::INFINITY } else { used }))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The number of tests with each outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Summary {
    /// Passed.
    pub passed: usize,
    /// Failed, crashed, timed out, or flaky.
    pub failed: usize,
    /// Worse than the accepted baseline, within every limit.
    pub regressed: usize,
    /// Could not judge.
    pub invalid: usize,
    /// Could not run.
    pub skipped: usize,
    /// Off by default and not asked for.
    pub ignored: usize,
    /// Failed under a waiver, or flaky and counted as a success.
    pub waived: usize,
}

impl Summary {
    /// Counts one more outcome.
    pub fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed
            | Outcome::Crashed { .. }
            | Outcome::TimedOut { .. }
            | Outcome::Flaky { result: FlakyResult::Fail, .. } => &mut self.failed,
            Outcome::Regressed => &mut self.regressed,
            Outcome::Invalid { .. } => &mut self.invalid,
            Outcome::Skipped { .. } => &mut self.skipped,
            Outcome::Ignored { .. } => &mut self.ignored,
            Outcome::Waived { .. } | Outcome::Flaky { result: FlakyResult::Pass, .. } => {
                &mut self.waived
            }
        } += 1;
    }

    /// The number of tests that ran to a verdict: all but the ignored ones.
    pub fn ran(&self) -> usize {
        self.passed + self.failed + self.regressed + self.invalid + self.skipped + self.waived
    }
}

impl<'a> FromIterator<&'a Outcome> for Summary {
    fn from_iter<I: IntoIterator<Item = &'a Outcome>>(outcomes: I) -> Self {
        let mut summary = Self::default();
        for outcome in outcomes {
            summary.add(outcome);
        }
        summary
    }
}

//! What is reported about a run as it happens. Every output is a consumer of these reports:
//! the terminal, the streams for programs, annotations.

use super::{ModelPlan, ModelResult};
use npugate_schema::{Holder, Record};
use std::{fmt, sync::Arc};

/// Something that happens to a model in a run.
#[derive(Clone, Debug)]
pub struct Update {
    /// The model: its place in the run's list.
    pub model: usize,
    /// What is planned for it.
    pub plan: Arc<ModelPlan>,
    /// What happens.
    pub what: Happening,
}

/// What happens to a model.
#[derive(Clone, Debug)]
pub enum Happening {
    /// Its device is held by another process.
    Waiting { holder: Holder },
    /// It starts. A record will follow for each of these tests.
    Started { planned: Vec<String> },
    /// A process is about to be started.
    Launched { command: String },
    /// A test starts.
    TestStarted { name: String, attempt: Attempt },
    /// A test takes longer than it should; with its seconds so far.
    TestSlow { name: String, seconds: f64 },
    /// A test did not pass, and will run again.
    TestRetrying { record: Record, attempt: Attempt, output: String },
    /// A test has its verdict. Its output is only kept if the verdict is not good.
    TestFinished { record: Record, attempt: Attempt, output: String },
    /// A process died or was terminated in the middle of its tests.
    Died { status: String, output: String, remaining: usize },
    /// There is something to report that changes no verdict.
    Noted(String),
    /// It has finished.
    Finished { result: Arc<ModelResult> },
}

/// Which attempt at a test this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The number of the attempt, from 1 up.
    pub number: u32,
    /// The number of attempts that are allowed.
    pub of: u32,
}

impl Attempt {
    /// The only attempt at a test that is not retried.
    pub const ONLY: Self = Self { number: 1, of: 1 };
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A receiver of updates.
pub trait Consumer {
    /// Handles what happened.
    fn consume(&mut self, update: &Update);

    /// Called about ten times a second, for consumers that show elapsed times.
    fn tick(&mut self) {}
}

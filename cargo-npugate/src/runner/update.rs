//! What is told of a run as it happens. Every output is a consumer of it: the
//! terminal, the streams for programs, annotations.

use super::{ModelPlan, ModelResult};
use npugate_schema::{Holder, Record};
use std::{fmt, sync::Arc};

/// Something that happens to a model in a run.
#[derive(Clone, Debug)]
pub struct Update {
    /// The model: its place in the run's list.
    pub model: usize,
    /// What was planned for it.
    pub plan: Arc<ModelPlan>,
    /// What happens.
    pub what: Happening,
}

/// What happens to a model.
#[derive(Clone, Debug)]
pub enum Happening {
    /// Its device is held by another process.
    Waiting { holder: Holder },
    /// Its turn comes. A record is to come for each of these tests.
    Started { planned: Vec<String> },
    /// A process is about to be started.
    Launched { command: String },
    /// A test begins.
    TestStarted { name: String, attempt: Attempt },
    /// A test takes longer than it should: its seconds so far.
    TestSlow { name: String, seconds: f64 },
    /// A test did not pass, and will run again.
    TestRetrying { record: Record, attempt: Attempt, output: String },
    /// A test has its verdict. What it printed is kept only if that is not good.
    TestFinished { record: Record, attempt: Attempt, output: String },
    /// A process died or was ended in the middle of its tests.
    Died { status: String, output: String, remaining: usize },
    /// There is something to be told that changes no verdict.
    Noted(String),
    /// Its turn is over.
    Finished { result: Arc<ModelResult> },
}

/// Which attempt at a test this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// From 1 up.
    pub number: u32,
    /// How many there may be.
    pub of: u32,
}

impl Attempt {
    /// The one attempt at a test that is not run again.
    pub const ONLY: Self = Self { number: 1, of: 1 };
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Who wants to know.
pub trait Consumer {
    /// Takes note of what happened.
    fn consume(&mut self, update: &Update);

    /// Time passes: called about ten times a second, for what shows a clock.
    fn tick(&mut self) {}
}

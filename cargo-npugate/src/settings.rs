//! How one test is run: how long it may take, and how often it is retried.

use npugate_schema::{FlakyResult, TimeLimits};
use std::time::Duration;

/// How one test is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestSettings {
    /// After this long it is named as slow.
    pub slow: Duration,
    /// After this long its process is ended.
    pub timeout: Duration,
    /// How long the process has to end by itself before it is killed.
    pub grace: Duration,
    /// How often it is run again if it does not pass.
    pub retries: u32,
    /// What it counts as if it then passes.
    pub flaky: FlakyResult,
}

impl TestSettings {
    /// How long a process that is asked to end has for it.
    pub const GRACE: Duration = Duration::from_secs(5);

    /// For what may take as long as it takes.
    pub fn unlimited() -> Self {
        Self {
            slow: Duration::MAX,
            timeout: Duration::MAX,
            grace: Self::GRACE,
            retries: 0,
            flaky: FlakyResult::default(),
        }
    }
}

impl From<TimeLimits> for TestSettings {
    /// As the check declares it; nothing is run again.
    fn from(limits: TimeLimits) -> Self {
        Self {
            slow: Duration::from_secs(limits.slow),
            timeout: Duration::from_secs(limits.timeout),
            grace: Self::GRACE,
            retries: 0,
            flaky: FlakyResult::default(),
        }
    }
}

//! How one test is run: how long it may take, and how often it is retried.

use npugate_schema::{FlakyResult, TimeLimits};
use std::time::Duration;

/// How one test is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestSettings {
    /// How long it may run before it is reported as slow.
    pub slow: Duration,
    /// How long it may run before its process is terminated.
    pub timeout: Duration,
    /// How long the process has to end by itself before it is killed.
    pub grace: Duration,
    /// How often it is retried if it does not pass.
    pub retries: u32,
    /// How to count it if it then passes.
    pub flaky: FlakyResult,
}

impl TestSettings {
    /// How long a process that is asked to end has before it is killed.
    pub const GRACE: Duration = Duration::from_secs(5);

    /// Settings without a time limit.
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
    /// The limits that the check declares, without retries.
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

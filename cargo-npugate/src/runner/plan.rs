//! What is to run: a model's tests, each with what was decided about it.

use crate::config::Ignored;
use crate::gate::Gate;
use crate::waiver::Waiver;
use npugate_schema::{Description, FlakyResult, ListedTest, TimeLimits};
use std::time::Duration;

/// A model whose tests are to run.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelPlan {
    /// Its gate binary.
    pub gate: Gate,
    /// What that says of itself.
    pub description: Description,
    /// The tests that the selection leaves, those that are off among them.
    pub tests: Vec<PlannedTest>,
    /// The names that its baseline alone still has.
    pub gone: Vec<String>,
}

impl ModelPlan {
    /// The names of the tests that are to run.
    pub fn planned(&self, ignored: Ignored) -> Vec<String> {
        let runs = self.tests.iter().filter(|test| ignored.runs(&test.listed));
        runs.map(|test| test.listed.name.clone()).collect()
    }

    /// How a test is run; one that was not listed as its check would declare.
    pub fn settings(&self, name: &str) -> TestSettings {
        self.find(name).map_or_else(|| TimeLimits::default().into(), |test| test.settings)
    }

    /// How long its gate may take before the first test and between tests: as long
    /// as its longest test.
    pub fn idle(&self) -> TestSettings {
        let longest = self.tests.iter().map(|test| test.settings).max_by_key(|one| one.timeout);
        longest.unwrap_or_else(|| TimeLimits::default().into())
    }

    /// The limits that are waived for a test.
    pub fn waivers(&self, name: &str) -> &[Waiver] {
        self.find(name).map_or(&[], |test| &test.waivers)
    }

    fn find(&self, name: &str) -> Option<&PlannedTest> {
        self.tests.iter().find(|test| test.listed.name == name)
    }
}

/// A test, with what was decided about it.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedTest {
    /// The test as its gate lists it.
    pub listed: ListedTest,
    /// How it is run.
    pub settings: TestSettings,
    /// Limits that are waived for it.
    pub waivers: Vec<Waiver>,
}

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

impl From<ListedTest> for PlannedTest {
    /// As its check declares it.
    fn from(listed: ListedTest) -> Self {
        Self { settings: listed.limits.into(), listed, waivers: Vec::new() }
    }
}

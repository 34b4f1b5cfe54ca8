//! What to run: a model's tests, each with its settings and waivers.

use crate::gate::Gate;
use crate::selection::Ignored;
use crate::settings::TestSettings;
use crate::waiver::Waiver;
use npugate_schema::{Description, ListedTest, TimeLimits};

/// A model whose tests are to run.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelPlan {
    /// Its gate binary.
    pub gate: Gate,
    /// What the gate reports about itself.
    pub description: Description,
    /// The tests that the selection takes, including those that are off.
    pub tests: Vec<PlannedTest>,
    /// The names that only its baseline still has.
    pub gone: Vec<String>,
}

impl ModelPlan {
    /// The names of the tests to run.
    pub fn planned(&self, ignored: Ignored) -> Vec<String> {
        let runs = self.tests.iter().filter(|test| ignored.runs(&test.listed));
        runs.map(|test| test.listed.name.clone()).collect()
    }

    /// How to run a test; with the default limits of a check if it was not listed.
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

/// A test, with its settings and waivers.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedTest {
    /// The test as its gate lists it.
    pub listed: ListedTest,
    /// How it is run.
    pub settings: TestSettings,
    /// Limits that are waived for it.
    pub waivers: Vec<Waiver>,
}

impl From<ListedTest> for PlannedTest {
    /// The settings that its check declares.
    fn from(listed: ListedTest) -> Self {
        Self { settings: listed.limits.into(), listed, waivers: Vec::new() }
    }
}

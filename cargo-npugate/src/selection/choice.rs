//! The parts of a selection that have a few possible values.

use npugate_schema::ListedTest;

/// Whether earlier runs decide which tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rerun {
    /// All tests run.
    #[default]
    Everything,
    /// Only the tests run that did not succeed when they last ran.
    Failed,
}

/// How filters match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Matching {
    /// As a part of the name.
    #[default]
    Substring,
    /// As the whole name.
    Exact,
}

/// Which set of tests to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TestSet {
    /// The tests that run in a minute or two.
    #[default]
    Short,
    /// All tests.
    Full,
}

/// How much of each shape the kernel tests cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// All rows.
    #[default]
    Full,
    /// A few rows. The figures are of another shape, so no baseline is read or
    /// written.
    Smoke,
}

impl Effort {
    /// The word for it in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Smoke => "smoke",
        }
    }
}

/// Whether figures are compared with the baseline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum History {
    /// They are.
    #[default]
    Compare,
    /// They are only compared with their limits.
    Ignore,
}

/// What happens to tests whose weights are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WeightsNeed {
    /// They are ignored.
    #[default]
    Optional,
    /// They fail.
    Required,
}

/// What to do with tests that are off by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ignored {
    /// Do not run them.
    #[default]
    Skip,
    /// Run only them.
    Only,
    /// Run them too.
    Include,
}

impl Ignored {
    /// Whether a listed test runs.
    pub fn runs(self, test: &ListedTest) -> bool {
        match self {
            Self::Skip => test.ignored.is_none(),
            Self::Only => test.ignored.is_some(),
            Self::Include => true,
        }
    }
}

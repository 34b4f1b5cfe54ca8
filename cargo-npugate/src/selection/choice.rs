//! The parts of a selection that are one of a few words.

use npugate_schema::ListedTest;

/// Whether earlier runs say which tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rerun {
    /// They do not.
    #[default]
    Everything,
    /// Those run that did not succeed when they ran last.
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

/// Which set of tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TestSet {
    /// What runs in a minute or two.
    #[default]
    Short,
    /// Everything.
    Full,
}

/// How much of a shape the kernel tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// All.
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
    /// They stand on their limits alone.
    Ignore,
}

/// What missing weights do to the tests that need them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WeightsNeed {
    /// They are ignored.
    #[default]
    Optional,
    /// They fail.
    Required,
}

/// What happens to tests that are off by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ignored {
    /// They stay off.
    #[default]
    Skip,
    /// They alone run.
    Only,
    /// They run too.
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

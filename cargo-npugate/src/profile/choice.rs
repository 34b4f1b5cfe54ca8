//! Settings that are one of a few words.

use clap::ValueEnum;
use serde::Deserialize;
use std::{fmt, num::NonZero};

/// What a run does with baselines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BaselineMode {
    /// Figures are compared with the accepted ones; `NPUGATE_UPDATE` says what becomes of changes.
    #[default]
    Compare,
    /// Nothing is compared, and every figure of a test that passes is accepted.
    Save,
    /// Nothing is compared and nothing is written.
    Ignore,
}

/// What becomes of baselines and goldens that nothing refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unreferenced {
    /// They are not looked for.
    Ignore,
    /// Each is a warning.
    #[default]
    Warn,
    /// They are an error, with an exit code of its own.
    Reject,
}

/// How many tests may fail before no further one begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaxFail {
    /// Any number: `fail-fast = false`.
    Never,
    /// So many; one is `fail-fast = true`.
    After(NonZero<usize>),
}

impl fmt::Display for BaselineMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compare => "compare",
            Self::Save => "save",
            Self::Ignore => "ignore",
        })
    }
}

impl fmt::Display for Unreferenced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ignore => "ignore",
            Self::Warn => "warn",
            Self::Reject => "reject",
        })
    }
}

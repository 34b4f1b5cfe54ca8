//! Settings that are one of a few words.

use clap::ValueEnum;
use serde::Deserialize;
use std::{fmt, num::NonZero};

/// What a run does with baselines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BaselineMode {
    /// Compare figures with the accepted ones; `NPUGATE_UPDATE` says what to do with changes.
    #[default]
    Compare,
    /// Compare nothing, and accept every figure of a test that passes.
    Save,
    /// Compare nothing and write nothing.
    Ignore,
}

/// What a run does about baselines and goldens that nothing refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unreferenced {
    /// Do not look for them.
    Ignore,
    /// Warn about each.
    #[default]
    Warn,
    /// Report them as an error, which has its own exit code.
    Reject,
}

/// How many tests may fail before no more tests start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaxFail {
    /// Any number: `fail-fast = false`.
    Never,
    /// This number; 1 is `fail-fast = true`.
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

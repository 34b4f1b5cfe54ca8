//! Settings that are one of a few words.

use clap::ValueEnum;
use serde::Deserialize;
use std::{fmt, num::NonZero};

/// What a run does with baselines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BaselineMode {
    /// It is compared with them.
    #[default]
    Compare,
    /// They are written.
    Save,
    /// They are left alone.
    Ignore,
}

/// What happens to a baseline or golden that nothing refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unreferenced {
    /// Nothing.
    Ignore,
    /// It is told.
    #[default]
    Warn,
    /// It fails the run.
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

//! What a run does with baselines and with what nothing refers to, as it was typed.

use clap::ValueEnum;

/// What a run does with baselines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum BaselineUse {
    /// Figures are compared with the accepted ones; `NPUGATE_UPDATE` says what becomes of changes.
    #[default]
    Compare,
    /// Nothing is compared, and every figure of a test that passes is accepted.
    Save,
    /// Nothing is compared and nothing is written.
    Ignore,
}

/// What becomes of baselines and goldens that nothing refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Unreferenced {
    /// They are not looked for.
    #[default]
    Ignore,
    /// Each is a warning.
    Warn,
    /// They are an error, with an exit code of its own.
    Reject,
}

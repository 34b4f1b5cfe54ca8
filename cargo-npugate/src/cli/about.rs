//! Options that ask about this program and its checks, and the commands that write
//! shell completions and manual pages.

use clap::{ArgAction, Args, ValueHint};
use clap_complete::Shell;
use npugate_schema::CheckId;
use std::path::PathBuf;

/// What to print instead of running anything.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct AboutArgs {
    /// Explain what a check tests, why it has its limit, what usually breaks it and
    /// what to do next. CHECK is the name of a check or the whole name of a test;
    /// without it, list all checks
    #[arg(long, value_name = "CHECK", num_args = 0..=1, value_parser = str::parse::<CheckId>)]
    #[expect(clippy::option_option, reason = "given, and given with a value")]
    pub explain: Option<Option<CheckId>>,

    /// Print the version and the commit; with --verbose, also what else it was built from
    #[arg(short = 'V', long, action = ArgAction::SetTrue)]
    pub version: bool,
}

impl AboutArgs {
    /// Whether anything is to be printed.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// `completions`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to print completions for
    pub shell: Shell,
}

/// `man`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct ManArgs {
    /// Write a page for the program and for each of its commands to this folder
    /// [default: print the main page]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

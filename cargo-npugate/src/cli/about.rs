//! Options that ask about this program and its checks, and commands that write what
//! a shell and a manual know of it.

use clap::{ArgAction, Args, ValueHint};
use clap_complete::Shell;
use npugate_schema::CheckId;
use std::path::PathBuf;

/// What to tell in place of running anything.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct AboutArgs {
    /// Say what a check tests, why it has its limit, what usually breaks it and what
    /// to do next. CHECK is one of those that are listed without it, or the whole
    /// name of a test
    #[arg(long, value_name = "CHECK", num_args = 0..=1, value_parser = str::parse::<CheckId>)]
    #[expect(clippy::option_option, reason = "given, and given with a value")]
    pub explain: Option<Option<CheckId>>,

    /// Print the version and the commit; with --verbose what else it was built from
    #[arg(short = 'V', long, action = ArgAction::SetTrue)]
    pub version: bool,
}

impl AboutArgs {
    /// Whether anything is to be told.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// `completions`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `man`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct ManArgs {
    /// Write a page for the command and for each of its commands to this folder;
    /// without it the main page is printed
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

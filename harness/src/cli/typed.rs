//! What was typed: the command line, parsed by clap without any I/O and without a
//! look at the environment.
//!
//! Every flag of libtest 1.95 is here, so that `cargo test -- FLAGS` works on this
//! binary as on any other. libtest-mimic's parser, `Arguments`, is not flattened in.
//! 8 of its 16 arguments differ from libtest's: it takes one filter, not several; it
//! has no `--no-capture`; it refuses `--test --bench` and `-q --format json`; it
//! accepts `--ignored --include-ignored` and zero threads; its logfile replaces
//! standard output; its `--show-output` has no effect. It also lacks 7 flags. If a
//! compatible version of it adds one that is defined here, two arguments have one
//! name, and clap panics when a gate of the dev profile starts.

#![expect(clippy::doc_markdown, reason = "the docs of an argument are its help")]

use super::usage::UsageError;
use crate::Baselines;
use crate::schema::Phase;
use clap::{Arg, Args, ColorChoice, Parser, ValueEnum};
use std::{ffi::OsString, num::NonZero, path::PathBuf};

/// What was typed.
#[derive(Parser, Debug)]
#[command(
    no_binary_name = true,
    override_usage = "[OPTIONS] [FILTER]...",
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = true,
    mut_args = may_begin_with_a_dash
)]
pub(super) struct Typed {
    /// Run only the tests whose names contain one of the FILTERs
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    #[command(flatten)]
    pub tests: Tests,
    #[command(flatten)]
    pub running: Running,
    #[command(flatten)]
    pub printing: Printing,
    #[command(flatten)]
    pub task: Task,
    #[command(flatten)]
    pub libtest: Libtest,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Test selection")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it was typed")]
pub(super) struct Tests {
    /// Skip the tests whose names contain TEXT; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub skip: Vec<String>,
    /// Match whole names; a FILTER that matches no test is an error
    #[arg(long)]
    pub exact: bool,
    /// Run only the tests of PHASE; may be repeated
    #[arg(long = "phase", value_name = "PHASE")]
    pub phases: Vec<Phase>,
    /// Also run the tests of the long set [env: NPUGATE_FULL=1]
    #[arg(long)]
    pub full: bool,
    /// Fail tests whose weights are missing instead of ignoring them [env: NPUGATE_REQUIRE_WEIGHTS=1]
    #[arg(long)]
    pub require_weights: bool,
    /// Run only ignored tests
    #[arg(long, conflicts_with = "include_ignored")]
    pub ignored: bool,
    /// Also run ignored tests
    #[arg(long)]
    pub include_ignored: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Execution")]
pub(super) struct Running {
    /// Run on DEVICE [default: the first one of the adapter] [env: NPUGATE_DEVICE]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Change a setting of the adapter; may be repeated [env: NPUGATE_SETTINGS]
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Same as `--set toolchain=VERSION`
    #[arg(long, value_name = "VERSION")]
    pub toolchain: Option<String>,
    /// Take a quick look: run kernels on a few rows, without a baseline
    #[arg(long)]
    pub smoke: bool,
    /// Compare with the baseline, or ignore it [default: compare] [env: NPUGATE_BASELINE]
    #[arg(long, value_name = "compare|ignore")]
    pub baseline: Option<Baselines>,
    /// Read goldens and baselines from FOLDER/MODEL [env: NPUGATE_FIXTURES]
    #[arg(long, value_name = "FOLDER")]
    pub fixtures: Option<PathBuf>,
    /// Write logits and verdicts of the token gates to FOLDER [env: NPUGATE_EVIDENCE]
    #[arg(long, value_name = "FOLDER")]
    pub evidence: Option<PathBuf>,
    /// Stop after the first failure
    #[arg(long)]
    pub fail_fast: bool,
    /// Run tests in random order [env: RUST_TEST_SHUFFLE=1]
    #[arg(long)]
    pub shuffle: bool,
    /// Run tests in the random order that SEED gives [env: RUST_TEST_SHUFFLE_SEED]
    #[arg(long, value_name = "SEED")]
    pub shuffle_seed: Option<u64>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct Printing {
    /// Print a line for each test, a character for each test, or JSON
    #[arg(long, value_name = "pretty|terse|json", hide_possible_values = true)]
    pub format: Option<Format>,
    /// Same as `--format terse`
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the verdicts of all tests [env: RUST_TEST_NOCAPTURE=1]
    #[arg(long, visible_alias = "no-capture", alias = "nocapture")]
    pub show_output: bool,
    /// Print the time of each test
    #[arg(long)]
    pub report_time: bool,
    /// When to use colours [env: CARGO_TERM_COLOR, NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, value_name = "auto|always|never", hide_possible_values = true)]
    pub color: Option<ColorChoice>,
    /// Also write a line for each test to PATH
    #[arg(long, value_name = "PATH")]
    pub logfile: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Instead of running tests")]
pub(super) struct Task {
    /// List the tests without opening a device or reading weights
    #[arg(long, group = "task")]
    pub list: bool,
    /// Describe the model, the device and the programs as JSON
    #[arg(long, group = "task")]
    pub describe: bool,
    /// Generate text that continues PROMPT
    #[arg(long, group = "task", value_name = "PROMPT")]
    pub generate: Option<String>,
    /// Generate at most N tokens
    #[arg(long, value_name = "N", default_value = "64", value_parser = positive)]
    pub max_tokens: NonZero<usize>,
    /// Print help
    #[arg(long, short)]
    pub help: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Compatibility with libtest")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it was typed")]
pub(super) struct Libtest {
    /// Run tests, the default, also with `--bench`
    #[arg(long)]
    pub test: bool,
    /// Run benchmarks instead of tests; there are none
    #[arg(long)]
    pub bench: bool,
    /// No effect: a device runs one test at a time [env: RUST_TEST_THREADS]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub test_threads: Option<NonZero<usize>>,
    /// No effect: tests have no time limits
    #[arg(long)]
    pub ensure_time: bool,
    /// No effect: no test is expected to panic
    #[arg(long)]
    pub exclude_should_panic: bool,
    /// No effect: tests run in this process
    #[arg(long)]
    pub force_run_in_process: bool,
    /// No effect: nothing here is unstable
    #[arg(
        short = 'Z',
        value_name = "unstable-options",
        value_parser = ["unstable-options"],
        hide_possible_values = true
    )]
    pub unstable: Option<String>,
}

/// How a run or a list is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Format {
    #[default]
    Pretty,
    Terse,
    Json,
}

impl Typed {
    /// Parses a command line, the program's name not included.
    pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let args = args.into_iter().map(OsString::into_string).collect::<Result<Vec<_>, _>>();
        let args = args.map_err(|arg| UsageError::NotUtf8(arg.to_string_lossy().into_owned()))?;
        Self::try_parse_from(args).map_err(UsageError::from)
    }
}

/// The value of a flag may begin with a dash, as in libtest: `--skip --exact`.
fn may_begin_with_a_dash(arg: Arg) -> Arg {
    let is_value_of_a_flag = !arg.is_positional() && arg.get_action().takes_values();
    arg.allow_hyphen_values(is_value_of_a_flag)
}

/// A number from 1 up.
pub(super) fn positive(text: &str) -> Result<NonZero<usize>, &'static str> {
    text.parse().map_err(|_| "it must be a whole number of at least 1")
}

#[cfg(test)]
mod tests;

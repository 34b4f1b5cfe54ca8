//! Options that select tests.

use crate::partition::Partition;
use clap::{Args, ValueEnum};
use npugate_schema::Phase;

/// Which tests.
#[derive(Clone, PartialEq, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it was typed")]
pub struct FilterArgs {
    /// Select the tests whose names contain one of these
    #[arg(value_name = "FILTER", help_heading = None::<&str>)]
    pub filters: Vec<String>,

    /// Skip the tests whose names contain TEXT; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub skip: Vec<String>,

    /// Select the tests that match an expression, such as
    /// `kind(kernel) & op(gemm) & m >= 256`; may be given several times to select
    /// the tests that match any
    #[arg(short = 'E', long, value_name = "EXPR")]
    pub filter_expr: Vec<String>,

    /// Match filters against whole names, not parts of them
    #[arg(long)]
    pub exact: bool,

    /// Select the tests of a phase; may be given several times
    #[arg(long, value_name = "PHASE", value_parser = str::parse::<Phase>)]
    pub phase: Vec<Phase>,

    /// Include the long set: all prompts of the token gates, decode logits on all
    /// prompts, run-to-run identity
    #[arg(long)]
    pub full: bool,

    /// Run kernel tests on few rows, for a quick look: nothing is compared with a
    /// baseline or written to one
    #[arg(long)]
    pub smoke: bool,

    /// Fail the tests whose weights are missing, instead of ignoring them
    #[arg(long)]
    pub require_weights: bool,

    /// Select only the tests that do not run by default
    #[arg(long, conflicts_with = "include_ignored")]
    pub ignored: bool,

    /// Include the tests that do not run by default
    #[arg(long)]
    pub include_ignored: bool,

    /// Select tests by whether they run by default
    #[arg(long, value_name = "WHICH")]
    pub run_ignored: Option<RunIgnored>,

    /// Select one part of the tests: `hash:M/N`, stable when tests are added or
    /// removed, or `slice:M/N`, of even size
    #[arg(long, value_name = "PART", value_parser = str::parse::<Partition>)]
    pub partition: Option<Partition>,

    /// Select the tests that did not succeed when they last ran
    #[arg(long, value_name = "WHICH")]
    pub rerun: Option<RerunWhich>,
}

/// Which tests to run, by whether they run by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RunIgnored {
    /// The tests that run by default
    Default,
    /// The tests that do not run by default
    Only,
    /// Both
    All,
}

/// Which tests to run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RerunWhich {
    /// The tests that did not succeed when they last ran
    Failed,
}

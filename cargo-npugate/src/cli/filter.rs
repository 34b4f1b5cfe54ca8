//! Options that choose tests.

use crate::partition::Partition;
use clap::{Args, ValueEnum};
use npugate_schema::Phase;

/// Which tests.
#[derive(Clone, PartialEq, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it was typed")]
pub struct FilterArgs {
    /// Parts of test names: a test runs if one of them is in its name
    #[arg(value_name = "FILTER", help_heading = None::<&str>)]
    pub filters: Vec<String>,

    /// Leave out tests whose names contain TEXT; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub skip: Vec<String>,

    /// Only tests that an expression describes, such as
    /// `kind(kernel) & op(gemm) & m >= 256`; one of several is enough
    #[arg(short = 'E', long, value_name = "EXPR")]
    pub filter_expr: Vec<String>,

    /// Filters are whole names
    #[arg(long)]
    pub exact: bool,

    /// Only the tests of a phase; may be given several times
    #[arg(long, value_name = "PHASE", value_parser = str::parse::<Phase>)]
    pub phase: Vec<Phase>,

    /// The long set too: all prompts of the token gates, decode logits on all
    /// prompts, run-to-run identity
    #[arg(long)]
    pub full: bool,

    /// Kernel tests on few rows, for a quick look: nothing is compared with a
    /// baseline or written to one
    #[arg(long)]
    pub smoke: bool,

    /// Missing weights fail the tests that need them, where they would be
    /// ignored
    #[arg(long)]
    pub require_weights: bool,

    /// Only the tests that do not run by default
    #[arg(long, conflicts_with = "include_ignored")]
    pub ignored: bool,

    /// The tests that do not run by default too
    #[arg(long)]
    pub include_ignored: bool,

    /// Which tests run of those that do by default and those that do not
    #[arg(long, value_name = "WHICH")]
    pub run_ignored: Option<RunIgnored>,

    /// Only a part of the tests: `hash:M/N`, stable under changes, or
    /// `slice:M/N`, of even size
    #[arg(long, value_name = "PART", value_parser = str::parse::<Partition>)]
    pub partition: Option<Partition>,

    /// Only the tests that did not succeed when they ran last
    #[arg(long, value_name = "WHICH")]
    pub rerun: Option<RerunWhich>,
}

/// Which tests run of those that do by default and those that do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RunIgnored {
    /// Those that run by default
    Default,
    /// Those that do not
    Only,
    /// Both
    All,
}

/// Which tests run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RerunWhich {
    /// Those that did not succeed when they ran last
    Failed,
}

//! Options for how tests are run and what is written about it.

use crate::profile::{BaselineMode, Span, Unreferenced};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use npugate_schema::FlakyResult;
use std::{num::NonZero, path::PathBuf};

/// How to run tests.
#[derive(Clone, PartialEq, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it was typed")]
pub struct RunArgs {
    /// Write a JUnit report to PATH
    #[arg(long, value_name = "PATH")]
    pub junit: Option<PathBuf>,

    /// Write the events of the run to PATH as they happen, as JSON lines; `merge`
    /// joins such files
    #[arg(long, value_name = "PATH")]
    pub results: Option<PathBuf>,

    /// Write messages in this format to stdout [default: human]
    #[arg(long, value_name = "FORMAT")]
    pub message_format: Option<RunFormat>,

    /// Report a test as slow after this long, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", value_parser = str::parse::<Span>)]
    pub slow: Option<Span>,

    /// Terminate a test after this long
    #[arg(long, value_name = "DURATION", value_parser = str::parse::<Span>)]
    pub timeout: Option<Span>,

    /// Retry a failing test at most N times
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,

    /// How to count a test that fails and then passes on a retry
    #[arg(long, value_name = "RESULT", value_parser = flaky_result())]
    pub flaky_result: Option<FlakyResult>,

    /// What to do with baselines [default: compare]
    #[arg(long, value_name = "MODE")]
    pub baseline: Option<BaselineMode>,

    /// What to do about baselines and goldens that nothing refers to [default: warn
    /// in a run of every test, ignore in others]
    #[arg(long, value_name = "MODE")]
    pub unreferenced: Option<Unreferenced>,

    /// Do not fetch missing weights
    #[arg(long)]
    pub no_fetch: bool,

    /// Show the output of the gate binaries as they print it
    #[arg(long, alias = "nocapture")]
    pub no_capture: bool,

    /// Stop the run at the first test that does not pass
    #[arg(long, conflicts_with_all = ["no_fail_fast", "max_fail"])]
    pub fail_fast: bool,

    /// Run every test regardless of failures (the default)
    #[arg(long, conflicts_with = "max_fail")]
    pub no_fail_fast: bool,

    /// Stop the run after N tests that do not pass
    #[arg(long, value_name = "N")]
    pub max_fail: Option<NonZero<usize>>,

    /// Number of models to run in parallel on a device that can be shared [default:
    /// 1, because each model uses all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,

    /// Fail if the device is missing, instead of skipping its tests
    #[arg(long)]
    pub require_device: bool,

    /// Lock that keeps other processes off an NPU, shared with MLIR-AIR's tools
    /// [default: `NPUGATE_LOCK`, or /tmp/mlir-air-npu.lock]
    #[arg(long, value_name = "PATH")]
    pub lock: Option<PathBuf>,

    /// Wait for the lock at most this long, such as `90s` or `10m` [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = str::parse::<Span>)]
    pub lock_timeout: Option<Span>,

    /// Do not take the lock, because the caller holds it; same as `NPUGATE_LOCK_HELD=1`
    #[arg(long, conflicts_with_all = ["lock", "lock_timeout"])]
    pub no_lock: bool,
}

/// `fail` and `pass`.
fn flaky_result() -> impl TypedValueParser<Value = FlakyResult> {
    PossibleValuesParser::new(["fail", "pass"]).map(|word| match word.as_str() {
        "pass" => FlakyResult::Pass,
        _ => FlakyResult::Fail,
    })
}

/// What a run writes to stdout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum RunFormat {
    /// Nothing; the output for people goes to stderr.
    #[default]
    Human,
    /// The messages of this command, as JSON lines.
    Json,
    /// The JSON lines of libtest, which IDEs read.
    LibtestJson,
}

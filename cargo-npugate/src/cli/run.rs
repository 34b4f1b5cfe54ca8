//! Options on how tests are run, and what is written of that.

use crate::profile::{BaselineMode, Span, Unreferenced};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use npugate_schema::FlakyResult;
use std::{num::NonZero, path::PathBuf};

/// How to run them.
#[derive(Clone, PartialEq, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it was typed")]
pub struct RunArgs {
    /// Write a JUnit report to PATH
    #[arg(long, value_name = "PATH")]
    pub junit: Option<PathBuf>,

    /// Write what happens to PATH as it happens, as JSON lines; `merge` joins
    /// such files
    #[arg(long, value_name = "PATH")]
    pub results: Option<PathBuf>,

    /// What goes to stdout: nothing, JSON lines, or those of libtest
    #[arg(long, value_name = "FORMAT")]
    pub message_format: Option<RunFormat>,

    /// Name a test as slow after this long, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", value_parser = str::parse::<Span>)]
    pub slow: Option<Span>,

    /// End a test after this long
    #[arg(long, value_name = "DURATION", value_parser = str::parse::<Span>)]
    pub timeout: Option<Span>,

    /// Run a test that does not pass again, so often at most
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,

    /// What a test counts as that failed and then passed
    #[arg(long, value_name = "RESULT", value_parser = flaky_result())]
    pub flaky_result: Option<FlakyResult>,

    /// What to do with baselines [default: compare]
    #[arg(long, value_name = "MODE")]
    pub baseline: Option<BaselineMode>,

    /// What becomes of baselines and goldens that nothing refers to [default: warn
    /// in a run of every test, ignore in others]
    #[arg(long, value_name = "MODE")]
    pub unreferenced: Option<Unreferenced>,

    /// Do not fetch missing weights
    #[arg(long)]
    pub no_fetch: bool,

    /// Show what the gate binaries print, as they print it
    #[arg(long, alias = "nocapture")]
    pub no_capture: bool,

    /// Stop the run at the first test that does not pass
    #[arg(long, conflicts_with_all = ["no_fail_fast", "max_fail"])]
    pub fail_fast: bool,

    /// Run every test whatever fails, as is the default
    #[arg(long, conflicts_with = "max_fail")]
    pub no_fail_fast: bool,

    /// Stop the run after N tests that do not pass
    #[arg(long, value_name = "N")]
    pub max_fail: Option<NonZero<usize>>,

    /// Run so many models at a time, where their device can be shared [default:
    /// 1; each uses all cores as it is]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,

    /// A missing device is an error, where its tests would be skipped
    #[arg(long)]
    pub require_device: bool,

    /// The lock that keeps other processes off an NPU, shared with MLIR-AIR's
    /// tools [default: /tmp/mlir-air-npu.lock, or `NPUGATE_LOCK`]
    #[arg(long, value_name = "PATH")]
    pub lock: Option<PathBuf>,

    /// How long to wait for it, such as 90s or 10m [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = str::parse::<Span>)]
    pub lock_timeout: Option<Span>,

    /// Do not take the lock: the caller holds it, as `NPUGATE_LOCK_HELD=1` says too
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
    /// Nothing: what people read is on stderr.
    #[default]
    Human,
    /// Messages of this command, as JSON lines.
    Json,
    /// The JSON lines of libtest, as IDEs read them.
    LibtestJson,
}

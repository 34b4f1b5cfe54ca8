//! Options that several commands share.

use crate::partition::Partition;
use crate::profile::{BaselineMode, Span, Unreferenced};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ColorChoice, ValueEnum};
use npugate_schema::{FlakyResult, Phase};
use std::{num::NonZero, path::PathBuf};

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

/// Which settings hold where the command line says nothing.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct ProfileArgs {
    /// The profile of the configuration [default: that of
    /// `NPUGATE_PROFILE`, or `default`]
    #[arg(short = 'P', long, value_name = "NAME", global = true)]
    pub profile: Option<String>,

    /// The configuration [default: that of `NPUGATE_CONFIG`, or
    /// `.config/npugate.toml` at the workspace's root]
    #[arg(long, value_name = "PATH", global = true)]
    pub config: Option<PathBuf>,
}

/// Which adapter crates.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct AdapterArgs {
    /// Only this adapter package or model; may be given several times
    #[arg(short, long, value_name = "NAME", global = true)]
    pub package: Vec<String>,

    /// Every adapter, those too that are off by default
    #[arg(long, alias = "all", global = true)]
    pub workspace: bool,

    /// Leave this adapter package or model out; may be given several times
    #[arg(long, value_name = "NAME", global = true)]
    pub exclude: Vec<String>,
}

/// Where tests run, and with which settings.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct DeviceArgs {
    /// The device: `emu`, the emulated NPU, or `xrt`, the hardware [default:
    /// the adapter's first]
    #[arg(long, value_name = "DEVICE", global = true)]
    pub device: Option<String>,

    /// A setting of the adapter, as KEY=VALUE; may be given several times
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,

    /// The toolchain whose arithmetic the emulated NPU follows
    #[arg(long, value_name = "VERSION", global = true)]
    pub toolchain: Option<String>,
}

/// How cargo finds and builds the adapters.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct CargoArgs {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", global = true)]
    pub manifest_path: Option<PathBuf>,

    /// Build the gates in this cargo profile [default: `cargo-profile` under
    /// `[workspace.metadata.npugate]` in Cargo.toml, or release]
    #[arg(long, value_name = "PROFILE", global = true)]
    pub cargo_profile: Option<String>,

    #[command(flatten)]
    pub features: clap_cargo::Features,

    /// Folder for what is built
    #[arg(long, value_name = "DIR", global = true)]
    pub target_dir: Option<PathBuf>,

    /// Assert that `Cargo.lock` stays as it is
    #[arg(long, global = true)]
    pub locked: bool,

    /// Run without the network: cargo and weights alike
    #[arg(long, global = true)]
    pub offline: bool,

    /// As --locked and --offline together
    #[arg(long, global = true)]
    pub frozen: bool,
}

/// What is printed.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct OutputArgs {
    /// When to use colours
    #[arg(
        long,
        value_name = "WHEN",
        env = "CARGO_TERM_COLOR",
        hide_env_values = true,
        default_value = "auto",
        global = true
    )]
    pub color: WhenColor,

    /// A line for each test; twice: the commands that are run
    #[arg(short, long, action = ArgAction::Count, conflicts_with = "quiet", global = true)]
    pub verbose: u8,

    /// Failures and the summary only
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum WhenColor {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl WhenColor {
    /// The choice for the parser's own messages, from the value of
    /// `CARGO_TERM_COLOR`, before there is a command line.
    pub fn before_parsing(variable: Option<&str>) -> ColorChoice {
        match variable {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => ColorChoice::Auto,
        }
    }
}

/// How data is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum MessageFormat {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_term_color_holds_for_help_too() {
        assert_eq!(WhenColor::before_parsing(Some("always")), ColorChoice::Always);
        assert_eq!(WhenColor::before_parsing(Some("never")), ColorChoice::Never);
        assert_eq!(WhenColor::before_parsing(None), ColorChoice::Auto);
    }
}

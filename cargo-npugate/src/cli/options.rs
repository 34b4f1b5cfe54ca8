//! Options that every command shares.

use clap::{ArgAction, Args, ColorChoice, ValueEnum};
use std::path::PathBuf;

/// Where settings come from that the command line does not give.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct ProfileArgs {
    /// Use this profile of the configuration [default: `NPUGATE_PROFILE`, or
    /// `default`]
    #[arg(short = 'P', long, value_name = "NAME", global = true)]
    pub profile: Option<String>,

    /// Read the configuration from PATH [default: `NPUGATE_CONFIG`, or
    /// `.config/npugate.toml` at the workspace's root]
    #[arg(long, value_name = "PATH", global = true)]
    pub config: Option<PathBuf>,
}

/// Which adapter crates.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct AdapterArgs {
    /// Select this adapter package or model; may be given several times
    #[arg(short, long, value_name = "NAME", global = true)]
    pub package: Vec<String>,

    /// Select every adapter, including those that are off by default
    #[arg(long, alias = "all", global = true)]
    pub workspace: bool,

    /// Exclude this adapter package or model; may be given several times
    #[arg(long, value_name = "NAME", global = true)]
    pub exclude: Vec<String>,
}

/// Where tests run, and with which settings.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct DeviceArgs {
    /// Run on this device: `emu`, the emulated NPU, or `xrt`, the hardware
    /// [default: the adapter's first]
    #[arg(long, value_name = "DEVICE", global = true)]
    pub device: Option<String>,

    /// Change a setting of the adapter; may be given several times
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,

    /// Emulate the arithmetic of this version of the toolchain
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

    /// Folder for all build artifacts
    #[arg(long, value_name = "DIR", global = true)]
    pub target_dir: Option<PathBuf>,

    /// Assert that `Cargo.lock` does not change
    #[arg(long, global = true)]
    pub locked: bool,

    /// Run without the network, for cargo and for weights
    #[arg(long, global = true)]
    pub offline: bool,

    /// Same as --locked and --offline together
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

    /// Print a line for each test; given twice, also the commands that are run
    #[arg(short, long, action = ArgAction::Count, conflicts_with = "quiet", global = true)]
    pub verbose: u8,

    /// Print only failures and the summary
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_term_color_applies_to_help_too() {
        assert_eq!(WhenColor::before_parsing(Some("always")), ColorChoice::Always);
        assert_eq!(WhenColor::before_parsing(Some("never")), ColorChoice::Never);
        assert_eq!(WhenColor::before_parsing(None), ColorChoice::Auto);
    }
}

//! The command line of `setup`.

use super::help;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `setup`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct SetupArgs {
    /// What to prepare
    #[command(subcommand)]
    pub command: SetupCommand,
}

/// What to prepare.
#[derive(Clone, PartialEq, Debug, Subcommand)]
pub enum SetupCommand {
    /// Build what reaches AMD's XRT: a small library, compiled against the XRT
    /// of this machine
    #[command(after_long_help = help::SETUP_XRT)]
    Xrt(XrtArgs),
}

/// `setup xrt`.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct XrtArgs {
    /// The folder with `xrt/xrt_device.h` [default: as searched, see --help]
    #[arg(long, value_name = "DIR")]
    pub xrt_include: Option<PathBuf>,

    /// The folder with `libxrt_coreutil.so` [default: as searched, see --help]
    #[arg(long, value_name = "DIR")]
    pub xrt_lib: Option<PathBuf>,
}

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
    /// Build the small library that gives access to AMD's XRT, against this
    /// machine's version of XRT
    #[command(after_long_help = help::SETUP_XRT)]
    Xrt(XrtArgs),
}

/// `setup xrt`.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct XrtArgs {
    /// Folder with `xrt/xrt_device.h` [default: searched for, see --help]
    #[arg(long, value_name = "DIR")]
    pub xrt_include: Option<PathBuf>,

    /// Folder with `libxrt_coreutil.so` [default: searched for, see --help]
    #[arg(long, value_name = "DIR")]
    pub xrt_lib: Option<PathBuf>,
}

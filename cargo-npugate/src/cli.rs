//! The command line as it was typed: parsing does no I/O and decides nothing.
//! [`crate::config`] makes a run out of it.

mod about;
mod before;
mod command;
mod filter;
mod help;
mod options;
mod registry;
mod run;
mod setup;

pub use about::{AboutArgs, CompletionsArgs, ManArgs};
pub use command::{Command, GenerateArgs, MachineArgs, MergeArgs, RecordArgs, TestArgs};
pub use filter::{FilterArgs, RerunWhich, RunIgnored};
pub use options::{
    AdapterArgs, CargoArgs, DeviceArgs, MessageFormat, OutputArgs, ProfileArgs, WhenColor,
};
pub use registry::{RegistryArgs, RegistryCommand};
pub use run::{RunArgs, RunFormat};
pub use setup::{SetupArgs, SetupCommand, XrtArgs};

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;

/// Gate language models on NPUs against their Hugging Face references.
///
/// Without a command, runs the tests of every adapter crate in the workspace:
/// each kernel at each shape, each block, the layers, the generated tokens.
#[derive(Clone, PartialEq, Debug, Parser)]
#[command(
    name = "cargo-npugate",
    bin_name = "cargo npugate",
    override_usage = "cargo npugate [OPTIONS] [FILTER]...\n       cargo npugate [OPTIONS] <COMMAND>",
    styles = clap_cargo::style::CLAP_STYLING,
    subcommand_help_heading = "Commands",
    disable_help_subcommand = true,
    disable_version_flag = true,
    after_help = help::SHORT,
    after_long_help = help::long(),
)]
pub struct Cli {
    /// The command to run; without one, all tests run.
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten, next_help_heading = "Tests")]
    pub filter: FilterArgs,

    #[command(flatten, next_help_heading = "Run")]
    pub run: RunArgs,

    #[command(flatten, next_help_heading = "Configuration")]
    pub profile: ProfileArgs,

    #[command(flatten, next_help_heading = "Adapters")]
    pub adapters: AdapterArgs,

    #[command(flatten, next_help_heading = "Device")]
    pub device: DeviceArgs,

    #[command(flatten, next_help_heading = "Cargo")]
    pub cargo: CargoArgs,

    #[command(flatten, next_help_heading = "Output")]
    pub output: OutputArgs,

    #[command(flatten, next_help_heading = "About")]
    pub about: AboutArgs,
}

/// Parses a command line. `npugate` may be the first argument of `argv`, as
/// cargo passes it to a subcommand, or not, as under `cargo run --`.
///
/// # Errors
///
/// A command line that makes no sense, or a request for help.
pub fn parse(
    argv: impl IntoIterator<Item = OsString>,
    color: ColorChoice,
) -> Result<Cli, clap::Error> {
    let mut argv: Vec<_> = argv.into_iter().collect();
    if argv.get(1).is_some_and(|word| word == "npugate") {
        argv.remove(1);
    }
    let command = command().color(color);
    let argv = before::behind_command(&command, argv);
    Cli::from_arg_matches(&command.try_get_matches_from(argv)?)
}

/// The whole grammar.
pub fn command() -> clap::Command {
    // These come from a shared definition, and apply to every command.
    const GLOBAL: [&str; 3] = ["all_features", "no_default_features", "features"];
    Cli::command().mut_args(|arg| {
        let is_global = GLOBAL.contains(&arg.get_id().as_str());
        if is_global { arg.global(true) } else { arg }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> Cli {
        let argv = line.split_whitespace().map(OsString::from);
        parse(argv, ColorChoice::Never).unwrap()
    }

    #[test]
    fn the_grammar_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn the_word_npugate_is_optional() {
        let with = parse_words("cargo-npugate npugate kernel gemm");
        assert_eq!(with, parse_words("cargo-npugate kernel gemm"));
        let Some(Command::Kernel(tests)) = with.command else { panic!("{with:?}") };
        assert_eq!(tests.filter.filters, ["gemm"]);
    }

    #[test]
    fn words_without_a_command_are_filters() {
        let cli = parse_words("cargo-npugate gemm softmax --skip high --exact");
        assert_eq!(cli.command, None);
        assert_eq!(cli.filter.filters, ["gemm", "softmax"]);
        assert_eq!(cli.filter.skip, ["high"]);
        assert!(cli.filter.exact);
    }

    #[test]
    fn a_word_after_a_filter_is_a_filter_even_if_it_names_a_command() {
        let cli = parse_words("cargo-npugate gemm list");
        assert_eq!(cli.command, None);
        assert_eq!(cli.filter.filters, ["gemm", "list"]);
    }

    #[test]
    fn shared_options_are_accepted_on_either_side_of_the_command() {
        for line in ["x -p tiny -F a --device xrt verify", "x verify -p tiny -F a --device xrt"] {
            let cli = parse_words(line);
            assert!(matches!(cli.command, Some(Command::Verify(_))), "{line}");
            assert_eq!(cli.adapters.package, ["tiny"], "{line}");
            assert_eq!(cli.cargo.features.features, ["a"], "{line}");
            assert_eq!(cli.device.device.as_deref(), Some("xrt"), "{line}");
        }
    }

    #[test]
    fn a_prompt_is_one_word() {
        let cli = parse(
            ["x", "run", "Once upon a time", "-n", "8"].map(OsString::from),
            ColorChoice::Never,
        );
        let Some(Command::Run(run)) = cli.unwrap().command else { panic!() };
        assert_eq!((run.prompt.as_str(), run.max_tokens), ("Once upon a time", 8));
    }

    #[test]
    fn zero_tokens_are_refused() {
        let argv = ["x", "run", "Once", "-n", "0"].map(OsString::from);
        let error = parse(argv, ColorChoice::Never).unwrap_err();
        assert_eq!(error.kind(), clap::error::ErrorKind::ValueValidation);
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn every_command_and_option_has_help() {
        let mut command = command();
        command.build();
        for sub in command.get_subcommands() {
            assert!(sub.get_about().is_some(), "{}", sub.get_name());
            for arg in sub.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", sub.get_name(), arg.get_id());
            }
        }
    }
}

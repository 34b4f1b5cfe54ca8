//! The command line as it was typed: parsing does no I/O and decides nothing.
//! [`crate::config`] makes a run out of it.

mod about;
mod before;
mod help;
mod options;
mod registry;
mod setup;

pub use about::{AboutArgs, CompletionsArgs, ManArgs};
pub use options::{
    AdapterArgs, CargoArgs, DeviceArgs, FilterArgs, MessageFormat, OutputArgs, ProfileArgs,
    RerunWhich, RunArgs, RunFormat, RunIgnored, WhenColor,
};

pub use registry::{RegistryArgs, RegistryCommand};
pub use setup::{SetupArgs, SetupCommand, XrtArgs};

use clap::builder::RangedU64ValueParser;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::{ffi::OsString, path::PathBuf};

/// Gate language models on NPUs against their Hugging Face references.
///
/// Without a command, runs the tests of every adapter crate of the workspace:
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
    /// What to do; without it, all tests run.
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

/// A command.
#[derive(Clone, PartialEq, Debug, Subcommand)]
pub enum Command {
    /// Run the kernel tests: each kernel at each shape that the model launches
    Kernel(TestArgs),
    /// Run the block tests: each decoder block on the reference's own input
    Block(TestArgs),
    /// Run the layer tests: the stack of blocks, layer by layer
    Layers(TestArgs),
    /// Verify the model as a whole: goldens, weights, configuration,
    /// tokenizer, generated tokens, logits, KV cache
    Verify(TestArgs),
    /// Run the layer tests and show where the model drifts: a table by layer,
    /// its cliffs, its lowest layer
    Diagnosis(TestArgs),
    /// List the tests without running them
    List(ListArgs),
    /// Join what the parts of a run wrote with --results into one report
    Merge(MergeArgs),
    /// Show the settings that hold, each with where it comes from
    ShowConfig {
        /// Show what holds for the tests of this name
        #[arg(value_name = "TEST")]
        test: Option<String>,
    },
    /// Generate text with one model: the text on stdout, its speed on stderr
    Run(GenerateArgs),
    /// Fetch the weights of models, checked by size and SHA-256
    Fetch {
        /// Models or adapter packages; all of the workspace without any
        #[arg(value_name = "MODEL")]
        models: Vec<String>,
    },
    /// Prepare this machine for a device
    Setup(SetupArgs),
    /// Record the goldens of a model from Hugging Face transformers
    Record(RecordArgs),
    /// Look up tested kernels and shapes, check that every launch is among them,
    /// record those that pass, compare the emulated NPU with silicon
    #[command(after_long_help = help::REGISTRY)]
    Registry(RegistryArgs),
    /// Find out what keeps the NPU of this machine from running, and what to do
    /// about it
    #[command(after_long_help = help::DOCTOR)]
    Doctor(MachineArgs),
    /// Show the NPU of this machine: name, firmware, driver, XRT, power mode, who
    /// holds it
    #[command(after_long_help = help::DEVICE)]
    Device(MachineArgs),
    /// Review pending baseline changes one by one
    Review,
    /// Print pending baseline changes
    Pending {
        /// How to print them
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        message_format: MessageFormat,

        /// As --message-format json
        #[arg(long, conflicts_with = "message_format")]
        json: bool,
    },
    /// Accept pending baseline changes
    Accept {
        /// Parts of test names; all pending changes without any
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Reject pending baseline changes
    Reject {
        /// Parts of test names; all pending changes without any
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// List baselines and goldens that nothing refers to
    Unreferenced {
        /// Delete the files among them; a folder is left to you
        #[arg(long)]
        delete: bool,
    },
    /// Print a shell's completions of `cargo-npugate`
    #[command(after_long_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write the manual's pages
    #[command(after_long_help = help::MAN)]
    Man(ManArgs),
}

/// A command that runs tests.
#[derive(Clone, PartialEq, Debug, Default, Args)]
pub struct TestArgs {
    #[command(flatten, next_help_heading = "Tests")]
    pub filter: FilterArgs,

    #[command(flatten, next_help_heading = "Run")]
    pub run: RunArgs,
}

/// `doctor` and `device`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct MachineArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `list`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct ListArgs {
    #[command(flatten, next_help_heading = "Tests")]
    pub filter: FilterArgs,

    /// How to print them: lines of `MODEL  TEST`, or one JSON array with a
    /// listing for each model
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `merge`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct MergeArgs {
    /// The files of all parts
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Write a JUnit report to PATH
    #[arg(long, value_name = "PATH")]
    pub junit: Option<PathBuf>,
}

/// `run`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct GenerateArgs {
    /// What the model is to continue
    pub prompt: String,

    /// How many tokens to generate at most
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = 64,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..)
    )]
    pub max_tokens: usize,

    /// Do not fetch missing weights
    #[arg(long)]
    pub no_fetch: bool,
}

/// `record`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct RecordArgs {
    /// The model, as the recorder calls it
    pub model: String,

    /// The folder with `record.py` and `requirements.txt` [default:
    /// fixtures/recorder at the workspace's root]
    #[arg(long, value_name = "DIR")]
    pub recorder: Option<PathBuf>,

    /// The folder with prompts and goldens [default: fixtures at the
    /// workspace's root]
    #[arg(long, value_name = "DIR")]
    pub fixtures: Option<PathBuf>,

    /// The weights to record from [default: where `fetch` puts them]
    #[arg(long, value_name = "PATH")]
    pub weights: Option<PathBuf>,
}

/// Parses a command line. `argv` may have `npugate` as its first argument, as
/// cargo passes it to a subcommand, or not, as under `cargo run --`.
///
/// # Errors
///
/// A command line that makes no sense, or a call for help.
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
    // These come from a shared definition, and hold for every command.
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
    fn the_word_npugate_may_be_there_or_not() {
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
    fn shared_options_stand_on_either_side_of_the_command() {
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
    fn no_tokens_are_none_to_generate() {
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

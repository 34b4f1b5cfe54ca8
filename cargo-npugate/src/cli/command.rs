//! The commands, with the options of each.

use super::help;
use super::{
    CompletionsArgs, FilterArgs, ManArgs, MessageFormat, RegistryArgs, RunArgs, SetupArgs,
};
use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use std::path::PathBuf;

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
    /// Join the --results files of the parts of a run into one report
    Merge(MergeArgs),
    /// Show the settings in effect and where each comes from
    ShowConfig {
        /// Show the settings of the tests with this name
        #[arg(value_name = "TEST")]
        test: Option<String>,
    },
    /// Generate text with one model; the text goes to stdout, its speed to stderr
    Run(GenerateArgs),
    /// Fetch the weights of models, and check their size and SHA-256
    Fetch {
        /// Models or adapter packages [default: all in the workspace]
        #[arg(value_name = "MODEL")]
        models: Vec<String>,
    },
    /// Prepare this machine for a device
    Setup(SetupArgs),
    /// Record the goldens of a model from Hugging Face transformers
    Record(RecordArgs),
    /// Look up tested kernels and shapes, check that every launch is among them,
    /// record those that pass, or compare the emulated NPU with silicon
    #[command(after_long_help = help::REGISTRY)]
    Registry(RegistryArgs),
    /// Find out what keeps this machine's NPU from working, and what to do about it
    #[command(after_long_help = help::DOCTOR)]
    Doctor(MachineArgs),
    /// Show this machine's NPU: name, firmware, driver, XRT, power mode, and which
    /// processes hold it
    #[command(after_long_help = help::DEVICE)]
    Device(MachineArgs),
    /// Review pending baseline changes one by one
    Review,
    /// Print pending baseline changes
    Pending {
        /// Print the changes in this format
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        message_format: MessageFormat,

        /// Same as --message-format json
        #[arg(long, conflicts_with = "message_format")]
        json: bool,
    },
    /// Accept pending baseline changes
    Accept {
        /// Accept the changes of tests whose names contain one of these [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Reject pending baseline changes
    Reject {
        /// Reject the changes of tests whose names contain one of these [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// List baselines and goldens that nothing refers to
    Unreferenced {
        /// Delete the files among them; folders are left for you to delete
        #[arg(long)]
        delete: bool,
    },
    /// Print shell completions for `cargo-npugate`
    #[command(after_long_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write the manual pages
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

    /// Print the tests as lines of `MODEL  TEST`, or as one JSON array with a
    /// listing for each model
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `merge`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct MergeArgs {
    /// The --results files of all parts
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Write a JUnit report to PATH
    #[arg(long, value_name = "PATH")]
    pub junit: Option<PathBuf>,
}

/// `run`.
#[derive(Clone, PartialEq, Debug, Args)]
pub struct GenerateArgs {
    /// Text for the model to continue
    pub prompt: String,

    /// Generate at most N tokens
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
    /// The recorder's name of the model
    pub model: String,

    /// Folder with `record.py` and `requirements.txt` [default:
    /// fixtures/recorder at the workspace's root]
    #[arg(long, value_name = "DIR")]
    pub recorder: Option<PathBuf>,

    /// Folder with prompts and goldens [default: fixtures at the
    /// workspace's root]
    #[arg(long, value_name = "DIR")]
    pub fixtures: Option<PathBuf>,

    /// Weights to record from [default: where `fetch` puts them]
    #[arg(long, value_name = "PATH")]
    pub weights: Option<PathBuf>,
}

//! The command and its options.

use super::test::VERIFY;
use super::{RegistryTask, Shared, Test, UsageError, View, selection};
use crate::baseline::Decision;
use crate::cli::{
    Command, GenerateArgs, MachineArgs, MergeArgs, MessageFormat, RecordArgs, SetupArgs,
    SetupCommand, TestArgs, XrtArgs,
};
use crate::doctor;
use crate::fetch::Network;
use crate::selection::Selection;
use crate::version::Detail;
use npugate_schema::{CheckId, Phase};
use std::path::PathBuf;

/// The command and its options.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Run tests.
    Test(Test),
    /// List tests.
    List { selection: Selection, format: MessageFormat },
    /// Join the results of several runs.
    Merge(MergeArgs),
    /// Show the settings in effect, for all tests or those with one name.
    ShowConfig { test: Option<String> },
    /// Generate text.
    Generate { prompt: String, max_tokens: usize, network: Network },
    /// Fetch weights.
    Fetch { models: Vec<String>, network: Network },
    /// Build the library that gives access to XRT.
    SetupXrt(XrtArgs),
    /// Record goldens.
    Record(RecordArgs),
    /// Do something with the registry.
    Registry(RegistryTask),
    /// Find out what keeps this machine's NPU from working.
    Doctor(MessageFormat),
    /// Show this machine's NPU.
    Device(MessageFormat),
    /// Review pending baseline changes.
    Review,
    /// Print pending baseline changes.
    Pending { format: MessageFormat },
    /// Accept or reject the pending baseline changes of tests whose names contain one
    /// of these; of all tests if there are none.
    Decide { decision: Decision, names: Vec<String> },
    /// List what nothing refers to, and perhaps delete it.
    Unreferenced(Leftovers),
    /// Print the version.
    Version(Detail),
    /// Explain a check, or list all checks.
    Explain(Option<CheckId>),
    /// Print shell completions.
    Completions(clap_complete::Shell),
    /// Write the manual pages to a folder, or print the main page.
    Man(Option<PathBuf>),
}

/// What to do with files that nothing refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leftovers {
    /// Keep them.
    Keep,
    /// Delete them.
    Delete,
}

impl Action {
    /// What happens without a command: all tests run.
    ///
    /// # Errors
    ///
    /// Those of [`Action::resolve`].
    pub(super) fn everything(args: TestArgs, shared: Shared<'_>) -> Result<Self, UsageError> {
        Ok(Self::Test(Test::resolve(args, &[], View::Summary, shared)?))
    }

    /// Resolves a command.
    ///
    /// # Errors
    ///
    /// Options that make no sense for it, or not together.
    pub(super) fn resolve(command: Command, shared: Shared<'_>) -> Result<Self, UsageError> {
        let test = |args, phases: &[Phase], view| {
            Ok::<_, UsageError>(Self::Test(Test::resolve(args, phases, view, shared)?))
        };
        Ok(match command {
            Command::Kernel(args) => test(args, &[Phase::Kernel], View::Summary)?,
            Command::Block(args) => test(args, &[Phase::Block], View::Summary)?,
            Command::Layers(args) => test(args, &[Phase::Layers], View::Summary)?,
            Command::Diagnosis(args) => test(args, &[Phase::Layers], View::Layers)?,
            Command::Verify(args) => test(args, &VERIFY, View::Summary)?,
            Command::List(args) => Self::List {
                selection: selection::resolve(args.filter)?,
                format: args.message_format,
            },
            Command::Merge(args) => Self::Merge(args),
            Command::ShowConfig { test } => Self::ShowConfig { test },
            Command::Run(args) => generate(args, shared)?,
            Command::Fetch { models } => {
                Self::Fetch { models, network: Network::resolve(shared.cargo, false) }
            }
            Command::Setup(SetupArgs { command: SetupCommand::Xrt(args) }) => Self::SetupXrt(args),
            Command::Record(args) => Self::Record(args),
            Command::Registry(args) => Self::Registry(RegistryTask::resolve(args, shared.device)?),
            Command::Doctor(args) => Self::Doctor(machine("doctor", &args, shared)?),
            Command::Device(args) => Self::Device(machine("device", &args, shared)?),
            Command::Review => Self::Review,
            Command::Pending { message_format, json } => {
                Self::Pending { format: if json { MessageFormat::Json } else { message_format } }
            }
            Command::Accept { names } => Self::Decide { decision: Decision::Accept, names },
            Command::Reject { names } => Self::Decide { decision: Decision::Reject, names },
            Command::Unreferenced { delete } => {
                Self::Unreferenced(if delete { Leftovers::Delete } else { Leftovers::Keep })
            }
            Command::Completions(args) => Self::Completions(args.shell),
            Command::Man(args) => Self::Man(args.folder),
        })
    }
}

/// What `run` does.
fn generate(args: GenerateArgs, shared: Shared<'_>) -> Result<Action, UsageError> {
    let GenerateArgs { prompt, max_tokens, no_fetch } = args;
    if prompt.is_empty() {
        return Err(UsageError::EmptyPrompt);
    }
    let network = Network::resolve(shared.cargo, no_fetch);
    Ok(Action::Generate { prompt, max_tokens, network })
}

/// How a command about this machine's NPU prints. It refuses any other device.
fn machine(
    command: &'static str,
    args: &MachineArgs,
    shared: Shared<'_>,
) -> Result<MessageFormat, UsageError> {
    match &shared.device.device {
        Some(device) if device != doctor::DEVICE => {
            Err(UsageError::NotHardware { command, device: device.clone() })
        }
        _ if args.json => Ok(MessageFormat::Json),
        _ => Ok(MessageFormat::Human),
    }
}

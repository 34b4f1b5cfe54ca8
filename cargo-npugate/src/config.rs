//! What a run does, resolved from what was typed and from the environment:
//! booleans become decisions, and a combination that makes no sense is refused
//! here.

mod about;
mod baseline;
mod error;
mod registry;
mod scheduling;
mod selection;
mod settings;

pub use error::UsageError;
pub use registry::{Fidelity, RegistryTask};
pub use scheduling::{Lock, MissingDevice, Scheduling};
pub use settings::TypedSettings;

use crate::baseline::review::Decision;
use crate::cli::{
    AdapterArgs, CargoArgs, Cli, Command, DeviceArgs, FilterArgs, GenerateArgs, MachineArgs,
    MergeArgs, MessageFormat, RecordArgs, RunArgs, RunFormat, SetupArgs, SetupCommand, TestArgs,
    XrtArgs,
};
use crate::doctor;
use crate::environment::Environment;
use crate::fetch::Network;
use crate::profile::{BaselineMode, Unreferenced};
use crate::runner::Capture;
use crate::selection::Selection;
use crate::shell::Verbosity;
use crate::version::Detail;
use npugate_schema::{CheckId, Phase};
use std::path::PathBuf;

/// What a run does.
#[derive(Clone, Debug)]
pub struct Config {
    /// The command.
    pub action: Action,
    /// Which adapters.
    pub adapters: AdapterArgs,
    /// How cargo finds and builds them.
    pub cargo: CargoArgs,
    /// Where tests run, and with which settings.
    pub device: DeviceArgs,
    /// Which settings hold where the command line says nothing.
    pub profile: ProfileChoice,
    /// How much is printed.
    pub verbosity: Verbosity,
    /// What the environment says.
    pub environment: Environment,
}

/// Which profile of which configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileChoice {
    /// Its name; `default` if none.
    pub name: Option<String>,
    /// The configuration; the workspace's own if none.
    pub file: Option<PathBuf>,
}

/// The command, with what belongs to it.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Run tests.
    Test(Test),
    /// List tests.
    List { selection: Selection, format: MessageFormat },
    /// Join the results of several runs.
    Merge(MergeArgs),
    /// Show the settings that hold, for all tests or those of one name.
    ShowConfig { test: Option<String> },
    /// Generate text.
    Generate { prompt: String, max_tokens: usize, network: Network },
    /// Fetch weights.
    Fetch { models: Vec<String>, network: Network },
    /// Build what reaches XRT.
    SetupXrt(XrtArgs),
    /// Record goldens.
    Record(RecordArgs),
    /// Do something with the registry.
    Registry(RegistryTask),
    /// Find out what keeps the NPU of this machine from running.
    Doctor(MessageFormat),
    /// Show the NPU of this machine.
    Device(MessageFormat),
    /// Review pending baseline changes.
    Review,
    /// Print pending baseline changes.
    Pending { format: MessageFormat },
    /// Accept or reject pending baseline changes whose test has one of these
    /// texts in its name; all without any.
    Decide { decision: Decision, names: Vec<String> },
    /// List what nothing refers to, and delete it or not.
    Unreferenced(Leftovers),
    /// Print the version.
    Version(Detail),
    /// Explain a check; list them all without one.
    Explain(Option<CheckId>),
    /// Print a shell's completions.
    Completions(clap_complete::Shell),
    /// Write the manual's pages to a folder; print the main one without.
    Man(Option<PathBuf>),
}

/// Run tests.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// Which tests.
    pub selection: Selection,
    /// How they are run, whatever the profile says.
    pub settings: TypedSettings,
    /// What is shown of them at the end.
    pub view: View,
    /// Where to write a JUnit report.
    pub junit: Option<PathBuf>,
    /// Where to write messages for programs.
    pub results: Option<PathBuf>,
    /// What goes to stdout.
    pub format: RunFormat,
    /// What happens to the output of gate binaries.
    pub capture: Capture,
    /// How the run as a whole goes.
    pub scheduling: Scheduling,
    /// Whether missing weights are fetched.
    pub network: Network,
    /// What it does with baselines, if it was typed.
    pub baseline: Option<BaselineMode>,
    /// What becomes of baselines and goldens that nothing refers to, if it was typed.
    pub unreferenced: Option<Unreferenced>,
}

impl Test {
    /// Tests that are run as they come.
    pub fn new(selection: Selection, network: Network) -> Self {
        Self {
            selection,
            settings: TypedSettings::default(),
            view: View::Summary,
            junit: None,
            results: None,
            format: RunFormat::Human,
            capture: Capture::Keep,
            scheduling: Scheduling::default(),
            network,
            baseline: None,
            unreferenced: Some(Unreferenced::Ignore),
        }
    }
}

/// What is shown at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// The summary.
    Summary,
    /// The summary and the table by layer.
    Layers,
}

/// What becomes of files that nothing refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leftovers {
    /// They stay.
    Keep,
    /// They are deleted.
    Delete,
}

impl Config {
    /// Resolves a command line.
    ///
    /// # Errors
    ///
    /// Options that have no meaning for the command, or an environment variable
    /// with a value that it cannot have.
    pub fn resolve(cli: Cli, environment: Environment) -> Result<Self, UsageError> {
        let Cli { command, filter, run, profile, adapters, device, cargo, output, about } = cli;
        let profile = ProfileChoice {
            name: profile.profile.or_else(|| environment.profile.clone()),
            file: profile.config.or_else(|| environment.config.clone()),
        };
        let offline = cargo.offline || cargo.frozen;
        let action = match about.action(output.verbose) {
            Some(action) => action,
            None => action(command, TestArgs { filter, run }, &device, offline, &environment)?,
        };
        let verbosity = match (output.quiet, output.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Verbose,
            (false, _) => Verbosity::Commands,
        };
        Ok(Self { action, adapters, cargo, device, profile, verbosity, environment })
    }
}

fn action(
    command: Option<Command>,
    outer: TestArgs,
    device: &DeviceArgs,
    offline: bool,
    environment: &Environment,
) -> Result<Action, UsageError> {
    let none = outer == TestArgs::default();
    let test = |args: TestArgs, phases: &[Phase], view| {
        let TestArgs { mut filter, run } = outer.clone().merge(args);
        let scheduling = Scheduling::of(&run, environment);
        let format = run.message_format.unwrap_or_default();
        if run.no_capture && format != RunFormat::Human {
            return Err(UsageError::SharedStdout);
        }
        filter.phase = narrow(filter.phase, phases)?;
        Ok::<_, UsageError>(Action::Test(Test {
            selection: selection::resolve(filter)?,
            settings: TypedSettings::from(&run),
            baseline: run.baseline,
            unreferenced: run.unreferenced,
            view,
            junit: run.junit,
            results: run.results,
            format,
            capture: if run.no_capture { Capture::Show } else { Capture::Keep },
            scheduling,
            network: network(offline, run.no_fetch),
        }))
    };
    Ok(match command {
        None => test(TestArgs::default(), &[], View::Summary)?,
        Some(Command::Kernel(args)) => test(args, &[Phase::Kernel], View::Summary)?,
        Some(Command::Block(args)) => test(args, &[Phase::Block], View::Summary)?,
        Some(Command::Layers(args)) => test(args, &[Phase::Layers], View::Summary)?,
        Some(Command::Diagnosis(args)) => test(args, &[Phase::Layers], View::Layers)?,
        Some(Command::Verify(args)) => test(args, &VERIFY, View::Summary)?,
        Some(Command::List(args)) => {
            let inner = TestArgs { filter: args.filter, run: RunArgs::default() };
            let selection = selection::resolve(outer.merge(inner).filter)?;
            Action::List { selection, format: args.message_format }
        }
        Some(Command::Merge(args)) => {
            refuse_unless(none, "merge")?;
            Action::Merge(args)
        }
        Some(Command::ShowConfig { test }) => {
            refuse_unless(none, "show-config")?;
            Action::ShowConfig { test }
        }
        Some(Command::Run(args)) => generate(args, &outer, offline)?,
        Some(Command::Fetch { models }) => {
            refuse_unless(none, "fetch")?;
            Action::Fetch { models, network: network(offline, false) }
        }
        Some(Command::Setup(SetupArgs { command: SetupCommand::Xrt(args) })) => {
            refuse_unless(none, "setup")?;
            Action::SetupXrt(args)
        }
        Some(Command::Record(args)) => {
            refuse_unless(none, "record")?;
            Action::Record(args)
        }
        Some(Command::Registry(args)) => {
            refuse_unless(none, "registry")?;
            Action::Registry(RegistryTask::resolve(args, device)?)
        }
        Some(Command::Doctor(args)) => Action::Doctor(machine("doctor", none, &args, device)?),
        Some(Command::Device(args)) => Action::Device(machine("device", none, &args, device)?),
        Some(Command::Review) => {
            refuse_unless(none, "review")?;
            Action::Review
        }
        Some(Command::Pending { message_format, json }) => {
            refuse_unless(none, "pending")?;
            Action::Pending { format: if json { MessageFormat::Json } else { message_format } }
        }
        Some(Command::Accept { names }) => {
            refuse_unless(none, "accept")?;
            Action::Decide { decision: Decision::Accept, names }
        }
        Some(Command::Reject { names }) => {
            refuse_unless(none, "reject")?;
            Action::Decide { decision: Decision::Reject, names }
        }
        Some(Command::Unreferenced { delete }) => {
            refuse_unless(none, "unreferenced")?;
            Action::Unreferenced(if delete { Leftovers::Delete } else { Leftovers::Keep })
        }
        Some(Command::Completions(args)) => {
            refuse_unless(none, "completions")?;
            Action::Completions(args.shell)
        }
        Some(Command::Man(args)) => {
            refuse_unless(none, "man")?;
            Action::Man(args.folder)
        }
    })
}

/// What `run` does. Of the options before it, only the one on fetching means something.
fn generate(args: GenerateArgs, outer: &TestArgs, offline: bool) -> Result<Action, UsageError> {
    let no_fetch = outer.run.no_fetch;
    let fetch_only =
        TestArgs { run: RunArgs { no_fetch, ..RunArgs::default() }, ..TestArgs::default() };
    refuse_unless(*outer == fetch_only, "run")?;
    if args.prompt.is_empty() {
        return Err(UsageError::EmptyPrompt);
    }
    let network = network(offline, args.no_fetch || no_fetch);
    Ok(Action::Generate { prompt: args.prompt, max_tokens: args.max_tokens, network })
}

/// The phases of `verify`: the model as a whole.
const VERIFY: [Phase; 7] = [
    Phase::Goldens,
    Phase::Weights,
    Phase::Config,
    Phase::Tokenizer,
    Phase::Tokens,
    Phase::Logits,
    Phase::Consistency,
];

/// The phases of a command, narrowed to those that were asked for.
fn narrow(asked: Vec<Phase>, command: &[Phase]) -> Result<Vec<Phase>, UsageError> {
    if command.is_empty() {
        return Ok(asked);
    }
    if asked.is_empty() {
        return Ok(command.to_vec());
    }
    match asked.iter().find(|phase| !command.contains(phase)) {
        None => Ok(asked),
        Some(&phase) => Err(UsageError::Phase { phase, known: command.to_vec() }),
    }
}

fn network(offline: bool, no_fetch: bool) -> Network {
    match (offline, no_fetch) {
        (true, _) => Network::Never("--offline"),
        (false, true) => Network::Never("--no-fetch"),
        (false, false) => Network::Use,
    }
}

/// How a command about this machine's NPU prints. It runs no tests, and can be about no
/// other device.
fn machine(
    command: &'static str,
    no_test_options: bool,
    args: &MachineArgs,
    device: &DeviceArgs,
) -> Result<MessageFormat, UsageError> {
    refuse_unless(no_test_options, command)?;
    match &device.device {
        Some(device) if device != doctor::DEVICE => {
            Err(UsageError::NotHardware { command, device: device.clone() })
        }
        _ if args.json => Ok(MessageFormat::Json),
        _ => Ok(MessageFormat::Human),
    }
}

fn refuse_unless(condition: bool, command: &'static str) -> Result<(), UsageError> {
    if condition { Ok(()) } else { Err(UsageError::TestOptions { command }) }
}

impl TestArgs {
    /// Options may stand before the command too: `cargo npugate --full verify`.
    fn merge(mut self, inner: Self) -> Self {
        let FilterArgs {
            filters,
            skip,
            filter_expr,
            exact,
            phase,
            full,
            smoke,
            require_weights,
            ..
        } = inner.filter;
        self.filter.filters.extend(filters);
        self.filter.skip.extend(skip);
        self.filter.phase.extend(phase);
        self.filter.filter_expr.extend(filter_expr);
        self.filter.exact |= exact;
        self.filter.full |= full;
        self.filter.smoke |= smoke;
        self.filter.require_weights |= require_weights;
        self.filter.ignored |= inner.filter.ignored;
        self.filter.include_ignored |= inner.filter.include_ignored;
        self.filter.run_ignored = inner.filter.run_ignored.or(self.filter.run_ignored);
        self.filter.partition = inner.filter.partition.or(self.filter.partition);
        self.filter.rerun = inner.filter.rerun.or(self.filter.rerun);
        self.run.junit = inner.run.junit.or(self.run.junit);
        self.run.results = inner.run.results.or(self.run.results);
        self.run.message_format = inner.run.message_format.or(self.run.message_format);
        self.run.slow = inner.run.slow.or(self.run.slow);
        self.run.timeout = inner.run.timeout.or(self.run.timeout);
        self.run.retries = inner.run.retries.or(self.run.retries);
        self.run.flaky_result = inner.run.flaky_result.or(self.run.flaky_result);
        self.run.baseline = inner.run.baseline.or(self.run.baseline);
        self.run.unreferenced = inner.run.unreferenced.or(self.run.unreferenced);
        self.run.no_fetch |= inner.run.no_fetch;
        self.run.no_capture |= inner.run.no_capture;
        self.run.no_fail_fast |= inner.run.no_fail_fast;
        self.run.fail_fast |= inner.run.fail_fast;
        self.run.max_fail = inner.run.max_fail.or(self.run.max_fail);
        self.run.jobs = inner.run.jobs.or(self.run.jobs);
        self.run.require_device |= inner.run.require_device;
        self.run.lock = inner.run.lock.or(self.run.lock);
        self.run.lock_timeout = inner.run.lock_timeout.or(self.run.lock_timeout);
        self.run.no_lock |= inner.run.no_lock;
        self
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

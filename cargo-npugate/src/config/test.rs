//! What a command that runs tests does.

use super::{Scheduling, Shared, TypedSettings, UsageError, selection};
use crate::cli::{CargoArgs, RunFormat, TestArgs};
use crate::fetch::Network;
use crate::profile::{BaselineMode, Unreferenced};
use crate::runner::Capture;
use crate::selection::Selection;
use npugate_schema::Phase;
use std::path::PathBuf;

/// How to run tests.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// Which tests to run.
    pub selection: Selection,
    /// How they are run, overriding the profile.
    pub settings: TypedSettings,
    /// What is shown at the end.
    pub view: View,
    /// Where to write a JUnit report.
    pub junit: Option<PathBuf>,
    /// Where to write messages for programs.
    pub results: Option<PathBuf>,
    /// What is written to stdout.
    pub format: RunFormat,
    /// What happens to the output of gate binaries.
    pub capture: Capture,
    /// How the run as a whole is scheduled.
    pub scheduling: Scheduling,
    /// Whether missing weights are fetched.
    pub network: Network,
    /// What to do with baselines, if it was typed.
    pub baseline: Option<BaselineMode>,
    /// What to do about baselines and goldens that nothing refers to, if it was typed.
    pub unreferenced: Option<Unreferenced>,
}

/// What is shown at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// The summary.
    Summary,
    /// The summary and the table by layer.
    Layers,
}

/// The phases of `verify`: the model as a whole.
pub(super) const VERIFY: [Phase; 7] = [
    Phase::Goldens,
    Phase::Weights,
    Phase::Config,
    Phase::Tokenizer,
    Phase::Tokens,
    Phase::Logits,
    Phase::Consistency,
];

impl Test {
    /// Runs the tests of a selection with the defaults.
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

    /// Resolves the options of a command that runs these phases, or all if there are none.
    pub(super) fn resolve(
        args: TestArgs,
        phases: &[Phase],
        view: View,
        shared: Shared<'_>,
    ) -> Result<Self, UsageError> {
        let TestArgs { mut filter, run } = args;
        let scheduling = Scheduling::of(&run, shared.environment);
        let format = run.message_format.unwrap_or_default();
        if run.no_capture && format != RunFormat::Human {
            return Err(UsageError::SharedStdout);
        }
        filter.phase = narrow(filter.phase, phases)?;
        Ok(Self {
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
            network: Network::resolve(shared.cargo, run.no_fetch),
        })
    }
}

/// The phases of a command, narrowed to the requested ones.
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

impl Network {
    /// Whether weights may be fetched, as typed.
    pub(super) fn resolve(cargo: &CargoArgs, no_fetch: bool) -> Self {
        match (cargo.offline || cargo.frozen, no_fetch) {
            (true, _) => Self::Never("--offline"),
            (false, true) => Self::Never("--no-fetch"),
            (false, false) => Self::Use,
        }
    }
}

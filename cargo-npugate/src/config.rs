//! What a run does, resolved from what was typed and from the environment:
//! booleans become decisions, and a combination that makes no sense is refused
//! here.

mod about;
mod action;
mod baseline;
mod error;
mod registry;
mod scheduling;
mod selection;
mod settings;
mod test;

pub use action::{Action, Leftovers};
pub use error::UsageError;
pub use registry::{Fidelity, RegistryTask};
pub use scheduling::{Lock, MissingDevice, Scheduling};
pub use settings::TypedSettings;
pub use test::{Test, View};

use crate::cli::{AdapterArgs, CargoArgs, Cli, DeviceArgs, TestArgs};
use crate::environment::Environment;
use crate::shell::Verbosity;
use std::path::PathBuf;

/// What a run does.
#[derive(Clone, Debug)]
pub struct Config {
    /// The command.
    pub action: Action,
    /// Which adapters are selected.
    pub adapters: AdapterArgs,
    /// How cargo finds and builds them.
    pub cargo: CargoArgs,
    /// Where tests run, and with which settings.
    pub device: DeviceArgs,
    /// Where settings come from that the command line does not give.
    pub profile: ProfileChoice,
    /// How much is printed.
    pub verbosity: Verbosity,
    /// The settings of the environment.
    pub environment: Environment,
}

/// Which profile of which configuration to use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileChoice {
    /// The profile's name; `default` if none.
    pub name: Option<String>,
    /// The configuration; the workspace's own if none.
    pub file: Option<PathBuf>,
}

/// The options of the whole command line that apply to every command.
#[derive(Clone, Copy, Debug)]
struct Shared<'a> {
    /// Where tests run, and with which settings.
    device: &'a DeviceArgs,
    /// How cargo finds and builds the adapters.
    cargo: &'a CargoArgs,
    /// The settings of the environment.
    environment: &'a Environment,
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
        let shared = Shared { device: &device, cargo: &cargo, environment: &environment };
        let action = match (about.action(output.verbose), command) {
            (Some(action), _) => action,
            (None, Some(command)) => Action::resolve(command, shared)?,
            (None, None) => Action::everything(TestArgs { filter, run }, shared)?,
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

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

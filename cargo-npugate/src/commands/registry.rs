//! The record of tested kernels.

mod add;
mod check;
mod fidelity;
mod list;
mod rules;
mod show;

use crate::config::{Config, RegistryTask};
use crate::error::Error;
use crate::shell::Shell;
use crate::workspace::{Workspace, WorkspaceError};
use npugate_kernels::registry::{Registry, RegistryError};
use npugate_schema::ExitCode;
use std::path::Path;

/// Does what was asked for with the registry.
///
/// # Errors
///
/// A registry that cannot be read, a missing workspace if one is needed, and the
/// errors of each command.
pub fn run(task: &RegistryTask, config: &Config, shell: &mut Shell) -> Result<ExitCode, Error> {
    match task {
        RegistryTask::List { filters, kernel, target, format } => {
            let registry = visible(config)?;
            list::run(
                &registry,
                &list::Which { filters, kernel: *kernel, target: *target },
                *format,
            )
        }
        RegistryTask::Show { name } => show::run(&visible(config)?, name),
        RegistryTask::Best { shape, output, tier } => {
            show::best(&visible(config)?, shape, *output, *tier)
        }
        RegistryTask::Rules { rule } => rules::run(*rule),
        RegistryTask::Check => {
            let workspace = Workspace::find(&config.cargo, &config.environment)?;
            check::run(&merged(workspace.registry.as_std_path())?, config, &workspace, shell)
        }
        RegistryTask::Add { filters } => {
            let workspace = Workspace::find(&config.cargo, &config.environment)?;
            add::run(filters, config, &workspace, shell)
        }
        RegistryTask::Fidelity(fidelity) => fidelity::run(fidelity, config, shell),
    }
}

/// The published rows, and those of the surrounding workspace, if there is one.
fn visible(config: &Config) -> Result<Registry, Error> {
    match Workspace::find(&config.cargo, &config.environment) {
        Ok(workspace) => merged(workspace.registry.as_std_path()),
        // Published rows can be looked up from anywhere.
        Err(WorkspaceError::NoAdapters { .. } | WorkspaceError::Metadata(_))
            if config.cargo.manifest_path.is_none() =>
        {
            Ok(Registry::published().clone())
        }
        Err(error) => Err(error.into()),
    }
}

/// The published rows, overridden by those of a workspace.
fn merged(folder: &Path) -> Result<Registry, Error> {
    let mut registry = Registry::published().clone();
    for row in own(folder)?.rows() {
        registry.insert(row.clone())?;
    }
    Ok(registry)
}

/// The rows of a workspace; none if it has no registry yet.
fn own(folder: &Path) -> Result<Registry, Error> {
    match Registry::load(folder) {
        Err(RegistryError::Empty { .. }) => Ok(Registry::default()),
        result => Ok(result?),
    }
}

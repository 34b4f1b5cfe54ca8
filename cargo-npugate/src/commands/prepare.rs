//! What tests, lists and generation share: gates that are built and described, and
//! have their weights.

use crate::build;
use crate::choose::{self, Candidates};
use crate::config::{Config, ProfileChoice};
use crate::error::Error;
use crate::fetch::{self, FetchError, Fetched, Network};
use crate::gate::Gate;
use crate::last_failed::{FailedTest, LastFailed};
use crate::profile::{ConfigError, Profile, Profiles};
use crate::selection::{Rerun, Selection};
use crate::shell::Shell;
use crate::workspace::{Adapter, Workspace};
use npugate_schema::{Description, WeightsSource};

/// The profile that was chosen.
///
/// # Errors
///
/// A configuration that makes no sense, or lacks the profile.
pub fn profile(config: &Config, workspace: &Workspace) -> Result<Profile, ConfigError> {
    let ProfileChoice { name, file } = &config.profile;
    let profiles = Profiles::load(workspace.root.as_std_path(), file.as_deref())?;
    profiles.resolve(name.as_deref().unwrap_or("default"))
}

/// The gates that the options select, built.
///
/// # Errors
///
/// A selection that leaves none, or a build that fails.
pub fn gates(
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Vec<Gate>, Error> {
    let adapters = workspace.select(&config.adapters)?;
    build_gates(&adapters, config, workspace, shell)
}

/// These gates, built.
///
/// # Errors
///
/// A build that fails.
pub fn build_gates(
    adapters: &[Adapter],
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Vec<Gate>, Error> {
    Ok(build::build(adapters, workspace, &config.cargo, &config.environment, shell)?)
}

/// What a gate reports about itself, once its weights have been fetched if they were
/// missing. Weights that cannot be fetched are a warning: the tests that need them
/// are ignored, or fail if weights are required.
///
/// # Errors
///
/// A gate that does not describe itself.
pub fn describe(
    gate: &Gate,
    network: Network,
    config: &Config,
    shell: &mut Shell,
) -> Result<Description, Error> {
    let description = gate.describe(&config.device)?;
    let Some(weights) = description.weights.as_ref().filter(|weights| {
        weights.path.is_none() && !matches!(weights.source, WeightsSource::Bundled { .. })
    }) else {
        return Ok(description);
    };
    match fetch::fetch(&description, weights, network, &config.environment, shell) {
        Ok(fetched @ Fetched::New { .. }) => fetch::tell(&description.model, &fetched, shell),
        Ok(Fetched::Fresh(_)) => {}
        Err(FetchError::Offline(option)) => {
            let model = &description.model;
            shell.warn(format_args!(
                "the weights of {model} are missing and {option} prevents fetching them: run `cargo npugate fetch {model}`"
            ));
            return Ok(description);
        }
        Err(source) => {
            shell.warn(Error::Fetch { model: description.model.clone(), source });
            return Ok(description);
        }
    }
    // Asked again, now that the weights are there.
    Ok(gate.describe(&config.device)?)
}

/// Keeps the tests that a selection takes. A test that did not succeed in an earlier
/// run and that no gate has any more is reported, and forgotten.
///
/// # Errors
///
/// A selection that asks for what no test has, or nothing to run again.
pub fn choose(
    candidates: &mut [Candidates],
    selection: &Selection,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<(), Error> {
    if selection.rerun == Rerun::Failed {
        let last_failed = LastFailed::of(workspace);
        let vanished = choose::take_failed(candidates, selection, &last_failed.load()?)?;
        for FailedTest { model, test, .. } in &vanished {
            shell.warn(format_args!("{test} of {model} failed before and no longer exists"));
        }
        if let Err(error) = last_failed.forget(&vanished) {
            shell.warn(format_args!("these tests will be reported again: {error}"));
        }
    }
    Ok(choose::choose(candidates, selection)?)
}

//! Baselines and goldens that nothing refers to.

use super::prepare;
use crate::baseline::unreferenced::{Claims, Leftover, find};
use crate::config::{Config, Leftovers};
use crate::error::Error;
use crate::files::FileError;
use crate::profile::Unreferenced;
use crate::runner::ModelResult;
use crate::shell::{self, Shell, Tone};
use crate::text;
use crate::workspace::Workspace;
use fs_err as fs;
use npugate_schema::ExitCode;
use std::{
    env,
    path::{Path, PathBuf},
};

/// Prints them to stdout, and deletes the files among them if asked to.
///
/// # Errors
///
/// A gate that cannot be built or does not describe itself; a file that cannot be
/// deleted.
pub fn run(
    leftovers: Leftovers,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let gates = prepare::gates(config, workspace, shell)?;
    let descriptions = gates.iter().map(|gate| gate.describe(&config.device));
    let descriptions = descriptions.collect::<Result<Vec<_>, _>>()?;
    let found = find(&descriptions, &claims(workspace));
    if found.is_empty() {
        shell.status(Tone::Good, "Fresh", "every baseline and golden is referred to");
        return Ok(ExitCode::Ok);
    }
    shell::print_data(found.iter().map(|one| line(one) + "\n").collect::<String>())?;
    if leftovers == Leftovers::Delete {
        delete(&found, shell)?;
    }
    Ok(ExitCode::Ok)
}

/// Deletes only files: a folder may hold what cannot be recorded again.
fn delete(found: &[Leftover], shell: &mut Shell) -> Result<(), Error> {
    let (folders, files): (Vec<_>, Vec<_>) = found.iter().partition(|one| one.path.is_dir());
    for Leftover { path, .. } in &files {
        let path = path.clone();
        fs::remove_file(&path).map_err(|source| FileError::Delete { path, source })?;
    }
    shell.status(Tone::Good, "Deleted", text::count(files.len(), "file"));
    for Leftover { path, .. } in folders {
        shell.warn(format_args!(
            "{} is a folder, and left for you to delete",
            from_here(path).display()
        ));
    }
    Ok(())
}

/// Looks for them after a run, and reports them as the mode says.
pub(super) fn after(
    mode: Unreferenced,
    results: &[ModelResult],
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<(), Error> {
    if mode == Unreferenced::Ignore {
        return Ok(());
    }
    let found = find(results.iter().map(|result| &result.description), &claims(workspace));
    for one in &found {
        match mode {
            Unreferenced::Reject => shell.error(line(one)),
            Unreferenced::Warn | Unreferenced::Ignore => shell.warn(line(one)),
        }
    }
    match (mode, found.len()) {
        (Unreferenced::Reject, 1..) => Err(Error::Unreferenced { count: found.len() }),
        _ => Ok(()),
    }
}

/// What belongs to the workspace's adapters.
fn claims(workspace: &Workspace) -> Claims {
    let adapters = || workspace.adapters.iter();
    let names = adapters().flat_map(|adapter| [&adapter.model, &adapter.package]);
    let folders = adapters().filter_map(|adapter| adapter.goldens.clone());
    Claims { names: names.cloned().collect(), folders: folders.map(Into::into).collect() }
}

/// `PATH: WHY`.
fn line(one: &Leftover) -> String {
    format!("{}: {}", from_here(&one.path).display(), one.why)
}

/// A path as one would type it here.
fn from_here(path: &Path) -> PathBuf {
    let here = env::current_dir().and_then(fs::canonicalize).ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| path.to_owned())
}

//! Pending baseline changes.

use crate::baseline::{self, Decision, LastRun, PendingFile, review as baseline_review};
use crate::cli::MessageFormat;
use crate::config::Config;
use crate::error::Error;
use crate::shell::{self, Shell, Tone};
use crate::workspace::Workspace;
use npugate_schema::ExitCode;
use std::io::{self, IsTerminal};

/// Asks about each pending change on a terminal; prints the changes elsewhere.
///
/// # Errors
///
/// A pending file that cannot be read, or a baseline that cannot be written.
pub fn review(
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let files = find(config, workspace)?;
    let last_run = last_run(workspace);
    if files.is_empty() {
        shell.status(Tone::Good, "Fresh", "nothing is pending");
        return Ok(ExitCode::Ok);
    }
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        baseline_review::review(files, &last_run, &mut io::stdin().lock(), shell)?;
        return Ok(ExitCode::Ok);
    }
    let (text, code) = baseline_review::pending(files, &last_run, MessageFormat::Human)?;
    shell::print_data(text)?;
    shell.status(Tone::Odd, "Pending", "there is no terminal to ask on: use `accept` or `reject`");
    Ok(code)
}

/// Prints pending changes to stdout.
///
/// # Errors
///
/// A pending file that cannot be read.
pub fn print(
    format: MessageFormat,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let files = find(config, workspace)?;
    if files.is_empty() {
        shell.status(Tone::Good, "Fresh", "nothing is pending");
    }
    let (text, _) = baseline_review::pending(files, &last_run(workspace), format)?;
    shell::print_data(text)?;
    Ok(ExitCode::Ok)
}

/// Accepts or rejects changes by name.
///
/// # Errors
///
/// No such change, or a baseline that cannot be written.
pub fn decide(
    decision: Decision,
    names: &[String],
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let files = find(config, workspace)?;
    baseline_review::decide_by_name(files, names, decision, shell)?;
    Ok(ExitCode::Ok)
}

fn last_run(workspace: &Workspace) -> LastRun {
    LastRun::new(workspace.target.as_std_path())
}

/// The pending files of the workspace, and of goldens kept outside of it; only those of
/// the selected models, if any are selected.
fn find(config: &Config, workspace: &Workspace) -> Result<Vec<PendingFile>, Error> {
    let selected = workspace.select(&config.adapters);
    let goldens = workspace.adapters.iter().filter_map(|adapter| adapter.goldens.as_ref());
    let roots: Vec<_> = [&workspace.root]
        .into_iter()
        .chain(goldens)
        .map(|path| path.clone().into_std_path_buf())
        .chain(config.environment.fixtures.clone())
        .collect();
    let mut files = baseline::find(&roots)?;
    if !config.adapters.package.is_empty() || !config.adapters.exclude.is_empty() {
        let selected = selected?;
        files.retain(|file| selected.iter().any(|adapter| adapter.is_called(&file.baseline.model)));
    }
    Ok(files)
}

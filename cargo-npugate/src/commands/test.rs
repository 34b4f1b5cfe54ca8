//! Running tests.

mod execute;
mod plan;

use super::unreferenced;
use crate::baseline::{self, ChangesError, LastRun, Listed};
use crate::cli::RunFormat;
use crate::config::{Config, Test, View};
use crate::error::Error;
use crate::last_failed::LastFailed;
use crate::profile::BaselineMode;
use crate::report::{diagnosis, github, junit, summary};
use crate::runner::ModelResult;
use crate::selection::{Effort, Selection};
use crate::shell::{self, Shell, Tone};
use crate::workspace::Workspace;
use npugate_schema::ExitCode;
use std::collections::BTreeSet;

pub(super) use execute::{Executed, execute};

/// Builds, lists, runs, reports.
///
/// # Errors
///
/// What keeps tests from running, or their report from being written. A test
/// that fails is an exit code, not an error.
pub fn run(
    test: &Test,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let Executed { results, interrupted, run, streams, profile, mode } =
        execute(test, config, workspace, shell)?;
    let junit_path = test.junit.as_ref().or(profile.values.junit.as_deref());
    let mut ending = Ending { code: summary::exit_code(&results) };
    if let Err(error) = LastFailed::of(workspace).update(&results) {
        shell.warn(format_args!("`--rerun failed` will not know about this run: {error}"));
    }
    if interrupted {
        ending.code = ExitCode::Interrupted;
        shell.error("interrupted: the baselines are unchanged");
    } else {
        if ending.code == ExitCode::NoTests {
            shell.error(nothing_ran(&results));
        }
        if test.view == View::Layers {
            ending.note(show_layers(&results, test.format, shell), shell);
        }
        if mode == BaselineMode::Ignore {
            let message = "ignored: nothing was compared with it or written to it";
            shell.status_always(Tone::Odd, "Baseline", message);
        }
        let refusals: BTreeSet<_> =
            results.iter().filter_map(|result| result.description.baselines.refusal()).collect();
        for reason in refusals {
            let message = format_args!("nothing was compared with it or written to it: {reason}");
            shell.status_always(Tone::Odd, "Baseline", message);
        }
        let kept = |result: &&ModelResult| {
            run.effort == Effort::Full && result.description.baselines.refusal().is_none()
        };
        for result in results.iter().filter(kept) {
            let selection = &test.selection;
            let kept = keep_baseline(mode, result, selection, config, workspace, shell);
            ending.note(kept, shell);
        }
        let leftovers = test.unreferenced(&profile);
        ending.note(unreferenced::after(leftovers, &results, workspace, shell), shell);
    }
    if let Some(path) = junit_path {
        ending.note(junit::write(&results, &run, path), shell);
    }
    if let Some(github) = &config.environment.github {
        github::annotate(&results, shell);
        ending.note(github::summarize(&results, &run, github), shell);
    }
    let code = ending.code;
    ending.note(streams.finish(&results, code, run.seconds), shell);
    Ok(ending.code)
}

/// Updates or saves a model's baseline, as the run's mode demands.
fn keep_baseline(
    mode: BaselineMode,
    result: &ModelResult,
    selection: &Selection,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<(), ChangesError> {
    match mode {
        BaselineMode::Compare => {
            let last_run = LastRun::new(workspace.target.as_std_path());
            baseline::update(result, config.environment.update, &last_run, shell)
        }
        BaselineMode::Save => {
            // A partial run knows only its own tests.
            let all = selection.lists_everything() && selection.takes_all_listed();
            baseline::save(result, if all { Listed::Everything } else { Listed::Some }, shell)
        }
        BaselineMode::Ignore => Ok(()),
    }
}

/// How a run ends: every step after the tests must be tried, and a failed test
/// outranks a report that could not be written.
struct Ending {
    code: ExitCode,
}

impl Ending {
    fn note<E: Into<Error>>(&mut self, result: Result<(), E>, shell: &mut Shell) {
        if let Err(error) = result.map_err(Into::into) {
            shell.error(&error);
            if self.code != ExitCode::TestsFailed {
                self.code = error.exit_code();
            }
        }
    }
}

fn nothing_ran(results: &[ModelResult]) -> String {
    let mut reasons: Vec<_> = results
        .iter()
        .flat_map(|result| &result.records)
        .filter_map(|record| record.outcome.reason())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    match reasons.as_slice() {
        [] => "no test ran".to_owned(),
        reasons => format!("no test ran: {}", reasons.join("; ")),
    }
}

/// Prints the tables by layer: to stdout, unless messages are written there.
fn show_layers(results: &[ModelResult], format: RunFormat, shell: &mut Shell) -> Result<(), Error> {
    let mut missing = None;
    for result in results {
        let model = &result.description.model;
        let drift = result.records.iter().find(|record| record.name == diagnosis::DRIFT);
        match drift.and_then(|record| diagnosis::report(model, record)) {
            Some(report) if format == RunFormat::Human => shell::print_data(report)?,
            Some(report) => report.lines().for_each(|line| shell.line(line)),
            None => missing = Some(Error::NoDrift(model.clone())),
        }
    }
    missing.map_or(Ok(()), Err)
}

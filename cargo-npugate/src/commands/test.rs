//! Running tests.

use super::{prepare, unreferenced};
use crate::baseline::{self, LastRun, Listed};
use crate::cli::BaselineUse;
use crate::config::{Config, Effort, History, Selection, Test, View};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::report::{diagnosis, junit, summary};
use crate::runner::{self, ModelPlan, ModelResult, RunOptions, gone};
use crate::shell::{self, Shell, Tone};
use crate::workspace::Workspace;
use npugate_schema::ExitCode;
use std::sync::Arc;

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
    let Executed { results, interrupted } = execute(test, config, workspace, shell)?;
    let selection = &test.selection;
    let mut ending = Ending { code: summary::exit_code(&results) };
    if interrupted {
        ending.code = ExitCode::Interrupted;
        shell.error("interrupted: the baselines stay as they are");
        if let Some(path) = &test.junit {
            ending.note(junit::write(&results, selection.effort, path), shell);
        }
        return Ok(ending.code);
    }
    if ending.code == ExitCode::NoTests {
        shell.error(nothing_ran(&results));
    }
    if test.view == View::Layers {
        ending.note(show_layers(&results), shell);
    }
    if test.baseline == BaselineUse::Ignore {
        let message = "ignored: nothing was compared with it or written to it";
        shell.status_always(Tone::Odd, "Baseline", message);
    }
    if selection.effort == Effort::Full {
        for result in &results {
            let kept = keep_baseline(test, result, config, workspace, shell);
            ending.note(kept, shell);
        }
    }
    ending.note(unreferenced::after(test.unreferenced, &results, workspace, shell), shell);
    if let Some(path) = &test.junit {
        ending.note(junit::write(&results, selection.effort, path), shell);
    }
    Ok(ending.code)
}

/// Takes a model's figures in, as the run is to do with baselines.
fn keep_baseline(
    test: &Test,
    result: &ModelResult,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<(), Error> {
    match test.baseline {
        BaselineUse::Compare => {
            let last_run = LastRun::new(workspace.target.as_std_path());
            baseline::update(result, config.environment.update, &last_run, shell)
        }
        BaselineUse::Save => {
            let all = test.selection.lists_everything();
            baseline::save(result, if all { Listed::Everything } else { Listed::Some }, shell)
        }
        BaselineUse::Ignore => Ok(()),
    }
}

/// Tests that ran.
pub(super) struct Executed {
    /// What is left of each model's run.
    pub(super) results: Vec<ModelResult>,
    /// Whether the run was cut short.
    pub(super) interrupted: bool,
}

/// Builds, lists, runs, and prints the summary.
///
/// # Errors
///
/// What keeps tests from running.
pub(super) fn execute(
    test: &Test,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Executed, Error> {
    let plans = plan(test, config, workspace, shell)?;
    let selection = &test.selection;
    let interrupt = Interrupt::listen(ExitCode::Interrupted as u8);
    let options = RunOptions {
        selection,
        device: &config.device,
        capture: test.capture,
        interrupt: &interrupt,
    };
    if test.capture == crate::config::Capture::Show {
        shell.share_terminal();
    }
    let mut results = Vec::with_capacity(plans.len());
    for (index, plan) in plans.iter().enumerate() {
        results.push(if interrupt.has_come() {
            runner::not_run(plan, selection)
        } else {
            runner::run((index, plan), options, &mut Progress::new(shell))?
        });
    }
    summary::print(&results, config, selection, shell);
    Ok(Executed { results, interrupted: interrupt.has_come() })
}

/// How a run ends: what comes after the tests must all be tried, and a failed
/// test outranks a report that could not be written.
struct Ending {
    code: ExitCode,
}

impl Ending {
    fn note(&mut self, result: Result<(), Error>, shell: &mut Shell) {
        if let Err(error) = result {
            shell.error(&error);
            if self.code != ExitCode::TestsFailed {
                self.code = error.exit_code();
            }
        }
    }
}

fn plan(
    test: &Test,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Vec<Arc<ModelPlan>>, Error> {
    let mut plans = Vec::new();
    for gate in prepare::gates(config, workspace, shell)? {
        let description = prepare::describe(&gate, test.network, config, shell)?;
        let tests = gate.list(&test.selection, &config.device)?.tests;
        // What a filter leaves out is not gone.
        let all = test.selection.lists_everything()
            && test.selection.effort == Effort::Full
            && test.selection.history == History::Compare;
        let gone = if all { gone::find(&description, &tests) } else { Vec::new() };
        if !tests.is_empty() || !gone.is_empty() {
            let tests = tests.into_iter().map(Into::into).collect();
            plans.push(Arc::new(ModelPlan { gate, description, tests, gone }));
        }
    }
    let names = plans.iter().flat_map(|plan| &plan.tests).map(|test| test.listed.name.as_str());
    if let Some(name) = test.selection.unmatched(names) {
        return Err(Error::NoTests(format!(
            "no test is called `{name}`; `cargo npugate list` prints their names"
        )));
    }
    if plans.is_empty() { Err(Error::NoTests(no_match(&test.selection))) } else { Ok(plans) }
}

fn no_match(selection: &Selection) -> String {
    let Selection { filters, .. } = selection;
    let close = match filters.as_slice() {
        [word] => close_command(word),
        _ => None,
    };
    match close {
        Some(command) => format!(
            "no test matches `{}`; did you mean the command `cargo npugate {command}`?",
            filters.join(" ")
        ),
        None if !filters.is_empty() => format!(
            "no test matches {}; `cargo npugate list` prints their names",
            filters.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or ")
        ),
        None => "no test matches; `cargo npugate list` prints their names".to_owned(),
    }
}

/// A mistyped command is taken for a filter.
fn close_command(word: &str) -> Option<String> {
    let command = crate::cli::command();
    let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    similar::get_close_matches(word, &names, 1, 0.7).first().map(ToString::to_string)
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

fn show_layers(results: &[ModelResult]) -> Result<(), Error> {
    let mut missing = None;
    for result in results {
        let model = &result.description.model;
        let drift = result.records.iter().find(|record| record.name == diagnosis::DRIFT);
        match drift.and_then(|record| diagnosis::report(model, record)) {
            Some(report) => shell::print_data(report)?,
            None => missing = Some(Error::NoDrift(model.clone())),
        }
    }
    missing.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_match_for(filters: &[&str]) -> String {
        let filters = filters.iter().map(ToString::to_string).collect();
        no_match(&Selection { filters, ..Selection::default() })
    }

    #[test]
    fn a_mistyped_command_is_recognised() {
        assert_eq!(
            no_match_for(&["reviw"]),
            "no test matches `reviw`; did you mean the command `cargo npugate review`?"
        );
        assert_eq!(
            no_match_for(&["conv2d", "lst"]),
            "no test matches `conv2d` or `lst`; `cargo npugate list` prints their names"
        );
        assert!(no_match_for(&["conv2d"]).contains("prints their names"));
    }
}

//! Running tests.

use super::prepare;
use crate::baseline::{self, LastRun};
use crate::cli::RunFormat;
use crate::config::{Config, Effort, MaxFail, MissingDevice, Selection, Test, View};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::report::{Run, Streams, diagnosis, github, junit, summary};
use crate::runner::{self, Brake, ModelPlan, ModelResult, Naming, PlannedTest, RunOptions, gone};
use crate::shell::{self, Shell};
use crate::workspace::Workspace;
use npugate_schema::{ExitCode, LOCK_HELD_VAR};
use std::{
    io::{self, IsTerminal},
    sync::Arc,
    time::Instant,
};

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
    let Executed { results, interrupted, run, streams } = execute(test, config, workspace, shell)?;
    let mut ending = Ending { code: summary::exit_code(&results) };
    if interrupted {
        ending.code = ExitCode::Interrupted;
        shell.error("interrupted: the baselines stay as they are");
    } else {
        if ending.code == ExitCode::NoTests {
            shell.error(nothing_ran(&results));
        }
        if test.view == View::Layers {
            ending.note(show_layers(&results, test.format, shell), shell);
        }
        let last_run = LastRun::new(workspace.target.as_std_path());
        let comparable = results.iter().filter(|_| run.effort == Effort::Full);
        for result in comparable {
            let mode = config.environment.update;
            ending.note(baseline::update(result, mode, &last_run, shell), shell);
        }
    }
    if let Some(path) = &test.junit {
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

/// Tests that ran.
pub(super) struct Executed {
    /// What is left of each model's run.
    pub(super) results: Vec<ModelResult>,
    /// Whether the run was cut short.
    pub(super) interrupted: bool,
    /// What reports say of it beyond its results.
    run: Run,
    /// Who is to be told of its end.
    streams: Streams,
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
    let start = Instant::now();
    let mut run = Run::of(config, &test.selection);
    let mut streams = Streams::open(test, &plans, &run)?;
    let interrupt = Interrupt::listen(ExitCode::Interrupted as u8);
    let options = RunOptions {
        selection: test.selection.clone(),
        device: config.device.clone(),
        capture: test.capture,
        jobs: test.jobs.unwrap_or_else(runner::default_jobs),
        brake: Brake::new(interrupt.clone(), test.max_fail.and_then(MaxFail::limit)),
        lock: test.lock.policy(),
        variables: vec![(LOCK_HELD_VAR.as_ref(), "1".into())],
        today: super::today(),
    };
    let messages = test.format != RunFormat::Human && io::stdout().is_terminal();
    if messages || test.capture == crate::config::Capture::Show {
        shell.share_terminal();
    }
    let runs = |test: &&PlannedTest| options.selection.ignored.runs(&test.listed);
    let tests = plans.iter().flat_map(|plan| &plan.tests).filter(runs).count();
    let gone: usize = plans.iter().map(|plan| plan.gone.len()).sum();
    let (runnable, missing) = sort_out(plans, test.missing_device)?;
    let mut progress = Progress::new(shell, tests + gone);
    let mut results = runner::run(&runnable, &options, &mut [&mut progress, &mut streams])?;
    drop(progress);
    results.extend(missing.iter().map(|plan| runner::without_device(plan, &options)));
    run.seconds = start.elapsed().as_secs_f64();
    summary::print(&results, &run, shell);
    Ok(Executed { results, interrupted: interrupt.has_come(), run, streams })
}

/// The models that can run, and those whose device is missing.
fn sort_out(
    plans: Vec<Arc<ModelPlan>>,
    missing_device: MissingDevice,
) -> Result<(Vec<Arc<ModelPlan>>, Vec<Arc<ModelPlan>>), Error> {
    let (missing, runnable): (Vec<_>, Vec<_>) =
        plans.into_iter().partition(|plan| plan.description.missing().is_some());
    match (missing.first(), missing_device) {
        (Some(plan), MissingDevice::Refuse) => Err(Error::NoDevice {
            model: plan.description.model.clone(),
            device: plan.description.device.clone(),
            reason: plan.description.missing().unwrap_or_default().to_owned(),
        }),
        _ => Ok((runnable, missing)),
    }
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
        let all = test.selection.lists_everything() && test.selection.effort == Effort::Full;
        let gone = if all { gone::find(&description, &tests) } else { Vec::new() };
        if !tests.is_empty() || !gone.is_empty() {
            let tests = tests.into_iter().map(Into::into).collect();
            let naming = Naming::Filters;
            plans.push(Arc::new(ModelPlan { gate, description, tests, gone, naming }));
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

/// The tables by layer: data, unless something else has stdout.
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

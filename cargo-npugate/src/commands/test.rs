//! Running tests.

use super::prepare;
use crate::baseline::{self, LastRun};
use crate::choose::{self, Candidates};
use crate::config::{Config, Effort, Test, View};
use crate::error::Error;
use crate::filter::Facts;
use crate::interrupt::Interrupt;
use crate::last_failed::LastFailed;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::report::{diagnosis, junit, summary};
use crate::runner::{self, ModelPlan, ModelResult, PlannedTest, RunOptions, gone};
use crate::shell::{self, Shell};
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
    let Executed { results, interrupted, profile } = execute(test, config, workspace, shell)?;
    let selection = &test.selection;
    let junit_path = test.junit.as_ref().or(profile.values.junit.as_deref());
    let mut ending = Ending { code: summary::exit_code(&results) };
    if let Err(error) = LastFailed::new(workspace.target.as_std_path()).update(&results) {
        shell.warn(format_args!("`--rerun failed` will not know of this run: {error}"));
    }
    if interrupted {
        ending.code = ExitCode::Interrupted;
        shell.error("interrupted: the baselines stay as they are");
        if let Some(path) = junit_path {
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
    let last_run = LastRun::new(workspace.target.as_std_path());
    let comparable = results.iter().filter(|_| selection.effort == Effort::Full);
    for result in comparable {
        let mode = config.environment.update;
        ending.note(baseline::update(result, mode, &last_run, shell), shell);
    }
    if let Some(path) = junit_path {
        ending.note(junit::write(&results, selection.effort, path), shell);
    }
    Ok(ending.code)
}

/// Tests that ran.
pub(super) struct Executed {
    /// What is left of each model's run.
    pub(super) results: Vec<ModelResult>,
    /// Whether the run was cut short.
    pub(super) interrupted: bool,
    /// The profile that it was run with.
    pub(super) profile: Profile,
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
    let profile = prepare::profile(config, workspace)?;
    let plans = plan(test, &profile, config, workspace, shell)?;
    let selection = &choose::to_run(&test.selection);
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
    Ok(Executed { results, interrupted: interrupt.has_come(), profile })
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
    profile: &Profile,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Vec<Arc<ModelPlan>>, Error> {
    let selection = &test.selection;
    let (mut models, mut candidates) = (Vec::new(), Vec::new());
    for gate in prepare::gates(config, workspace, shell)? {
        let description = prepare::describe(&gate, test.network, config, shell)?;
        let tests = gate.list(selection, &config.device)?.tests;
        // What a filter leaves out is not gone.
        let all = selection.lists_everything() && selection.effort == Effort::Full;
        let gone = if all { gone::find(&description, &tests) } else { Vec::new() };
        let package = gate.adapter.package.clone();
        candidates.push(Candidates { package, model: description.model.clone(), tests, gone });
        models.push((gate, description));
    }
    // Of a part of the tests nothing can be said.
    if selection.lists_everything() && models.len() == workspace.adapters.len() {
        let facts: Vec<_> = candidates.iter().flat_map(Candidates::facts).collect();
        for note in profile.unmatched(&facts) {
            shell.warn(note);
        }
    }
    prepare::choose(&mut candidates, selection, workspace, shell)?;
    let plans = models.into_iter().zip(candidates).filter_map(|((gate, description), chosen)| {
        let tests: Vec<_> = chosen.facts().map(|facts| planned(&facts, profile, test)).collect();
        let gone = chosen.gone;
        let any = !tests.is_empty() || !gone.is_empty();
        any.then(|| Arc::new(ModelPlan { gate, description, tests, gone }))
    });
    let plans: Vec<_> = plans.collect();
    if plans.is_empty() { Err(Error::NoTests(choose::no_match(selection))) } else { Ok(plans) }
}

/// A test with how it is run: as was typed, else as the profile says, else as
/// its check declares.
fn planned(facts: &Facts<'_>, profile: &Profile, test: &Test) -> PlannedTest {
    let listed = facts.test.clone();
    let (settings, waivers) = profile.test(facts, listed.limits);
    PlannedTest { listed, settings: test.settings.apply(settings), waivers }
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

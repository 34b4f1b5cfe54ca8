//! Running tests.

use super::{prepare, unreferenced};
use crate::baseline::{self, LastRun, Listed};
use crate::choose::{self, Candidates};
use crate::cli::RunFormat;
use crate::config::{Config, Effort, History, MissingDevice, Selection, Test, View};
use crate::error::Error;
use crate::filter::Facts;
use crate::interrupt::Interrupt;
use crate::last_failed::LastFailed;
use crate::profile::{BaselineMode, Profile};
use crate::progress::Progress;
use crate::report::{Run, Streams, diagnosis, github, junit, summary};
use crate::runner::{self, Brake, ModelPlan, ModelResult, PlannedTest, RunOptions, gone};
use crate::shell::{self, Shell, Tone};
use crate::workspace::Workspace;
use npugate_schema::{ExitCode, LOCK_HELD_VAR};
use std::{
    collections::BTreeSet,
    io::{self, IsTerminal},
    path::PathBuf,
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
    let Executed { results, interrupted, run, streams, profile, mode } =
        execute(test, config, workspace, shell)?;
    let junit_path = test.junit.as_ref().or(profile.values.junit.as_deref());
    let mut ending = Ending { code: summary::exit_code(&results) };
    if let Err(error) = LastFailed::new(workspace.target.as_std_path()).update(&results) {
        shell.warn(format_args!("`--rerun failed` will not know of this run: {error}"));
    }
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

/// Takes a model's figures in, as the run is to do with baselines.
fn keep_baseline(
    mode: BaselineMode,
    result: &ModelResult,
    selection: &Selection,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<(), Error> {
    match mode {
        BaselineMode::Compare => {
            let last_run = LastRun::new(workspace.target.as_std_path());
            baseline::update(result, config.environment.update, &last_run, shell)
        }
        BaselineMode::Save => {
            let all = selection.lists_everything();
            baseline::save(result, if all { Listed::Everything } else { Listed::Some }, shell)
        }
        BaselineMode::Ignore => Ok(()),
    }
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
    /// The profile that it was run with.
    pub(super) profile: Profile,
    /// What it does with baselines.
    mode: BaselineMode,
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
    let mode = test.baseline(&profile, config.environment.update)?;
    let test = &Test { selection: test.selection(mode), ..test.clone() };
    let plans = plan(test, &profile, config, workspace, shell);
    let start = Instant::now();
    let mut run = Run::of(config, test);
    let file = test.results.as_deref().or(profile.values.results.as_deref().map(PathBuf::as_path));
    if let Err(Error::NoTests(_)) = plans {
        // Whoever joins the parts of a run is to know that this one is empty.
        Streams::open(test.format, file, &[], &run)?.finish(&[], ExitCode::NoTests, 0.0)?;
    }
    let plans = plans?;
    let mut streams = Streams::open(test.format, file, &plans, &run)?;
    let interrupt = Interrupt::listen(ExitCode::Interrupted as u8);
    let options = RunOptions {
        selection: choose::to_run(&test.selection),
        device: config.device.clone(),
        capture: test.capture,
        jobs: test.scheduling.jobs(&profile),
        brake: Brake::new(interrupt.clone(), test.scheduling.max_fail(&profile)),
        lock: test.scheduling.lock(&profile),
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
    let (runnable, missing) = sort_out(plans, test.scheduling.missing_device)?;
    let mut progress = Progress::new(shell, tests + gone);
    let mut results = runner::run(&runnable, &options, &mut [&mut progress, &mut streams])?;
    drop(progress);
    results.extend(missing.iter().map(|plan| runner::without_device(plan, &options)));
    run.seconds = start.elapsed().as_secs_f64();
    summary::print(&results, &run, shell);
    Ok(Executed { results, interrupted: interrupt.has_come(), run, streams, profile, mode })
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
        let all = selection.lists_everything()
            && selection.effort == Effort::Full
            && selection.history == History::Compare;
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

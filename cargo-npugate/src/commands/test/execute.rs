//! Building, listing, running, and the summary: what every command that runs
//! tests does.

use super::plan::{self, Sorted};
use crate::choose;
use crate::cli::RunFormat;
use crate::commands::{prepare, today};
use crate::config::{Config, Test};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::profile::{BaselineMode, Profile};
use crate::progress::Progress;
use crate::report::{Run, Streams, summary};
use crate::runner::{self, Brake, Capture, ModelResult, PlannedTest, RunOptions};
use crate::shell::Shell;
use crate::workspace::Workspace;
use npugate_schema::{ExitCode, LOCK_HELD_VAR};
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    time::Instant,
};

/// Tests that ran.
pub(in crate::commands) struct Executed {
    /// The result of each model's run.
    pub(in crate::commands) results: Vec<ModelResult>,
    /// Whether the run was cut short.
    pub(in crate::commands) interrupted: bool,
    /// What reports say about the run beyond its results.
    pub(super) run: Run,
    /// Who is to be informed of its end.
    pub(super) streams: Streams,
    /// The profile that it was run with.
    pub(super) profile: Profile,
    /// What the run does with baselines.
    pub(super) mode: BaselineMode,
}

/// Builds, lists, runs, and prints the summary.
///
/// # Errors
///
/// What keeps tests from running.
pub(in crate::commands) fn execute(
    test: &Test,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Executed, Error> {
    let profile = prepare::profile(config, workspace)?;
    let mode = test.baseline(&profile, config.environment.update)?;
    let test = &Test { selection: test.selection(mode), ..test.clone() };
    let plans = plan::plan(test, &profile, config, workspace, shell);
    let start = Instant::now();
    let mut run = Run::of(config, test);
    let file = test.results.as_deref().or(profile.values.results.as_deref().map(PathBuf::as_path));
    if plans.as_ref().is_err_and(|error| error.exit_code() == ExitCode::NoTests) {
        // `merge` needs to know that this part of the run is empty.
        Streams::open(test.format, file, &[], &run)?.finish(&[], ExitCode::NoTests, 0.0)?;
    }
    let plans = plans?;
    let mut streams = Streams::open(test.format, file, &plans, &run)?;
    let interrupt = Interrupt::listen(ExitCode::Interrupted as u8);
    let options = options(test, &profile, config, &interrupt);
    let messages = test.format != RunFormat::Human && io::stdout().is_terminal();
    if messages || test.capture == Capture::Show {
        shell.share_terminal();
    }
    let runs = |test: &&PlannedTest| options.selection.ignored.runs(&test.listed);
    let tests = plans.iter().flat_map(|plan| &plan.tests).filter(runs).count();
    let gone: usize = plans.iter().map(|plan| plan.gone.len()).sum();
    let Sorted { runnable, missing } = Sorted::new(plans, test.scheduling.missing_device)?;
    let mut progress = Progress::new(shell, tests + gone);
    let mut results = runner::run(&runnable, &options, &mut [&mut progress, &mut streams])?;
    drop(progress);
    results.extend(missing.iter().map(|plan| runner::without_device(plan, &options)));
    run.seconds = start.elapsed().as_secs_f64();
    summary::print(&results, &run, shell);
    Ok(Executed { results, interrupted: interrupt.has_come(), run, streams, profile, mode })
}

/// How all tests of the run are run: as typed, or else as the profile says.
fn options(test: &Test, profile: &Profile, config: &Config, interrupt: &Interrupt) -> RunOptions {
    RunOptions {
        selection: choose::to_run(&test.selection),
        device: config.device.clone(),
        capture: test.capture,
        jobs: test.scheduling.jobs(profile),
        brake: Brake::new(interrupt.clone(), test.scheduling.max_fail(profile)),
        lock: test.scheduling.lock(profile),
        variables: vec![(LOCK_HELD_VAR.as_ref(), "1".into())],
        today: today(),
    }
}

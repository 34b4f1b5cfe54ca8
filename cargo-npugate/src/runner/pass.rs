//! One pass over a model's tests, in one process or in as many as crashes and hangs make
//! necessary.

use super::events::BadLine;
use super::output::Capture;
use super::process::{self, Ended, Followed, Told};
use super::stop::Stop;
use super::tracker::{End, Next, Tracker};
use super::{Blocked, Happening, ModelPlan, RunError, RunOptions};
use crate::selection::Matching;
use crate::text;
use npugate_schema::{Event, ExitCode, Record};
use std::{ffi::OsString, time::Instant};

/// What a pass reports as it happens.
#[derive(Debug)]
pub enum Step {
    /// Something that does not affect a verdict.
    Happens(Happening),
    /// A test starts.
    Begins(String),
    /// A test has a verdict; with its output if the verdict is not good.
    Judged(Record, String),
}

/// The result of a pass apart from its verdicts.
#[derive(Debug)]
pub struct Passed {
    /// What is wrong with the gate itself.
    pub troubles: Vec<String>,
    /// Why it ended early, if it did.
    pub stopped: Option<Stop>,
    /// What kept it from running to its end, if something did.
    pub blocked: Option<Blocked>,
}

impl Passed {
    /// A complete pass.
    fn whole(troubles: Vec<String>) -> Self {
        Self { troubles, stopped: None, blocked: None }
    }
}

/// Which tests a pass is about.
#[derive(Clone, Copy, Debug)]
pub enum Round<'a> {
    /// The tests that the filters select.
    First(&'a [String]),
    /// Some of them again.
    Again(&'a [String]),
}

/// Runs tests of a model until each has a verdict, or the run ends.
///
/// # Errors
///
/// The gate cannot be started, or its events cannot be followed.
pub fn run(
    plan: &ModelPlan,
    round: Round<'_>,
    options: &RunOptions,
    mut tell: impl FnMut(Step),
) -> Result<Passed, RunError> {
    let start = Instant::now();
    let (names, mut args) = match round {
        Round::First(names) => (names, first_args(names, options)),
        Round::Again(names) => (names, exact_args(names, options)),
    };
    let mut tracker = Tracker::new(names.to_vec());
    if names.is_empty() {
        return Ok(Passed::whole(Vec::new()));
    }
    loop {
        if let Some(stop) = options.brake.stop() {
            return Ok(stopped(tracker, stop, tell));
        }
        let ended = launch(plan, args, options, start, &mut tracker, &mut tell)?;
        if let Some(stop) = ended.stopped {
            return Ok(stopped(tracker, stop, tell));
        }
        if ended.status.code() == Some(ExitCode::WriteFailed as i32) {
            return Ok(unwritable(plan, tracker, &ended, tell));
        }
        let status = text::exit_status(ended.status);
        let end = End { status: &status, success: ended.status.success(), cause: ended.cause };
        let (next, records) = tracker.end(end, start.elapsed().as_secs_f64());
        let early = !records.is_empty() || tracker.is_in_trouble();
        for record in records {
            tell(Step::Judged(record, ended.output.clone()));
        }
        let remaining = match next {
            Next::Done => Vec::new(),
            Next::Again(names) => names,
        };
        if early || !remaining.is_empty() {
            let (output, remaining) = (last_words(ended), remaining.len());
            tell(Step::Happens(Happening::Died { status, output, remaining }));
        }
        if remaining.is_empty() {
            return Ok(Passed::whole(tracker.into_troubles()));
        }
        args = exact_args(&remaining, options);
    }
}

/// The output of a process that died in the middle of its tests. A process that ended itself
/// because its device failed only printed its own report, which its events have already.
fn last_words(ended: Ended) -> String {
    let in_order = ended.status.code() == Some(ExitCode::BuildFailed as i32);
    if in_order { String::new() } else { ended.output }
}

fn stopped(mut tracker: Tracker, stop: Stop, mut tell: impl FnMut(Step)) -> Passed {
    for record in tracker.stop(stop) {
        tell(Step::Judged(record, String::new()));
    }
    Passed { stopped: Some(stop), ..Passed::whole(tracker.into_troubles()) }
}

/// The gate could not write its events: another process could not write them either.
fn unwritable(
    plan: &ModelPlan,
    mut tracker: Tracker,
    ended: &Ended,
    mut tell: impl FnMut(Step),
) -> Passed {
    let said = text::last_line(&ended.output).map(text::without_error_prefix);
    let said = said.unwrap_or("it does not say what").trim_end_matches('.');
    let package = &plan.gate.adapter.package;
    let reason =
        format!("the gate of {package} could not write: {said}; free some space and run again");
    let blocked = Blocked::Disk(reason);
    for record in tracker.give_up_the_rest(&blocked.clone().into()) {
        tell(Step::Judged(record, String::new()));
    }
    Passed { blocked: Some(blocked), ..Passed::whole(tracker.into_troubles()) }
}

/// The filters as given. Exact names may belong to several models: each gate gets only its
/// own, because it refuses names that it lacks.
fn first_args(names: &[String], options: &RunOptions) -> Vec<OsString> {
    match options.selection.matching {
        Matching::Substring => options.selection.to_args(),
        Matching::Exact => exact_args(names, options),
    }
}

fn exact_args(names: &[String], options: &RunOptions) -> Vec<OsString> {
    options.selection.exact_args(names.iter().map(String::as_str))
}

fn launch(
    plan: &ModelPlan,
    mut args: Vec<OsString>,
    options: &RunOptions,
    start: Instant,
    tracker: &mut Tracker,
    tell: &mut impl FnMut(Step),
) -> Result<Ended, RunError> {
    let events =
        tempfile::NamedTempFile::with_prefix("npugate-events-").map_err(RunError::Events)?;
    args.extend(options.device.to_args());
    if options.capture == Capture::Show {
        args.push("--no-capture".into());
    }
    let mut command = plan.gate.run_command(args, events.path());
    command.envs(options.variables.iter().cloned());
    tracker.launch();
    tell(Step::Happens(Happening::Launched { command: text::command(&command) }));
    let settings = |name: &str| plan.settings(name);
    let followed = Followed {
        command,
        events: events.path(),
        capture: options.capture,
        brake: &options.brake,
        settings_of: settings,
        idle: plan.idle(),
    };
    let ended = process::follow(followed, |told| match told {
        Told::Event(event, output) => {
            tracker.event(&event, start.elapsed().as_secs_f64());
            match event {
                Event::TestStarted { name } => tell(Step::Begins(name)),
                Event::TestFinished { record } => {
                    let printed = output.filter(|_| !record.outcome.is_good());
                    let printed = printed.map(|output| output.of(&record.name));
                    tell(Step::Judged(record, printed.unwrap_or_default()));
                }
                _ => {}
            }
        }
        Told::Bad(line) => tracker.bad_line(&line),
        Told::Slow { name, elapsed } => {
            let seconds = elapsed.as_secs_f64();
            tell(Step::Happens(Happening::TestSlow { name, seconds }));
        }
    })?;
    if ended.cut_off && ended.status.success() {
        let reason = "the file ends in the middle of a line".to_owned();
        tracker.bad_line(&BadLine { text: String::new(), reason });
    }
    Ok(ended)
}

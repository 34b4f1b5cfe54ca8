//! Running a model's tests: in one process, or in as many as crashes make
//! necessary. What happens is told to a [`Consumer`] as it happens.

mod events;
pub mod gone;
mod process;
mod tracker;

use crate::cli::DeviceArgs;
use crate::config::{Capture, Selection};
use crate::error::Error;
use crate::gate::Gate;
use crate::interrupt::Interrupt;
use crate::text;
use events::BadLine;
use npugate_schema::{Description, Event, ListedTest, Record};
use std::{ffi::OsString, process::Command, time::Instant};
pub use tracker::is_interrupted;
use tracker::{End, Next, Tracker};

/// A model whose tests are to run.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelPlan {
    /// Its gate binary.
    pub gate: Gate,
    /// What that says of itself.
    pub description: Description,
    /// The tests that the selection leaves, those that are off among them.
    pub tests: Vec<ListedTest>,
    /// The names that its baseline alone still has.
    pub gone: Vec<String>,
}

/// How all tests of a run are run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Which tests.
    pub selection: &'a Selection,
    /// Where, and with which settings.
    pub device: &'a DeviceArgs,
    /// What happens to the gate's output.
    pub capture: Capture,
    /// What ends the run early.
    pub interrupt: &'a Interrupt,
}

/// What is left of a model's run.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelResult {
    /// What the gate says of itself.
    pub description: Description,
    /// The package, for `-p`.
    pub package: String,
    /// One record for each listed test, in the listing's order, and for each that
    /// is gone.
    pub records: Vec<Record>,
    /// The end of what a process printed that died in a test, by test.
    pub outputs: Vec<(String, String)>,
    /// What is wrong with the gate itself.
    pub troubles: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Something that happens in a run.
#[derive(Clone, Copy, Debug)]
pub enum Update<'a> {
    /// A model's turn comes. A record is to come for each of these tests.
    ModelStarted { plan: &'a ModelPlan, planned: &'a [String] },
    /// A process is about to be started.
    Launched { command: &'a Command },
    /// A test begins.
    TestStarted { name: &'a str },
    /// Time passes in a test: its seconds so far.
    TestRunning { name: &'a str, seconds: f64 },
    /// A test ended.
    TestFinished { record: &'a Record },
    /// A process died; the rest runs in another one.
    Died { status: &'a str, output: &'a str, remaining: usize },
    /// A model's turn is over.
    ModelFinished { result: &'a ModelResult },
}

/// Who wants to know.
pub trait Consumer {
    /// Takes note of what happened.
    fn consume(&mut self, update: Update<'_>);
}

/// Runs the tests of one model.
///
/// # Errors
///
/// The gate cannot be started, or its events cannot be followed. A test that
/// fails or a gate that dies is no error, but a part of the result.
pub fn run(
    plan: &ModelPlan,
    options: RunOptions<'_>,
    consumer: &mut dyn Consumer,
) -> Result<ModelResult, Error> {
    let start = Instant::now();
    let selection = options.selection;
    let mut tracker = Tracker::new(&plan.tests, |test| selection.ignored.runs(test));
    let planned = tracker.planned().to_vec();
    let awaited = [planned.as_slice(), &plan.gone].concat();
    consumer.consume(Update::ModelStarted { plan, planned: &awaited });
    let gone: Vec<_> = plan.gone.iter().map(|name| gone::record(name)).collect();
    for record in &gone {
        consumer.consume(Update::TestFinished { record });
    }
    let mut outputs = Vec::new();
    let mut args = Some(first_args(selection, &planned)).filter(|_| !planned.is_empty());
    while let Some(mut these) = args.take() {
        these.extend(options.device.to_args());
        let ended = launch(plan, these, options, start, &mut tracker, consumer)?;
        if ended.interrupted {
            tracker.interrupted();
            break;
        }
        let status = text::exit_status(ended.status);
        let end = End { status: &status, success: ended.status.success() };
        let (next, crashed) = tracker.end(end, start.elapsed().as_secs_f64());
        let remaining = match next {
            Next::Done => Vec::new(),
            Next::Again(names) => names,
        };
        if let Some(record) = &crashed {
            consumer.consume(Update::TestFinished { record });
            outputs.push((record.name.clone(), ended.output.clone()));
        }
        if crashed.is_some() || !remaining.is_empty() {
            let (output, remaining) = (&*ended.output, remaining.len());
            consumer.consume(Update::Died { status: &status, output, remaining });
        }
        if !remaining.is_empty() {
            args = Some(selection.exact_args(remaining.iter().map(String::as_str)));
        }
    }
    let mut verdicts = tracker.into_verdicts(&plan.tests);
    verdicts.records.extend(gone);
    let result = ModelResult {
        description: plan.description.clone(),
        package: plan.gate.adapter.package.clone(),
        records: verdicts.records,
        outputs,
        troubles: verdicts.troubles,
        seconds: start.elapsed().as_secs_f64(),
    };
    consumer.consume(Update::ModelFinished { result: &result });
    Ok(result)
}

/// What is left of a model whose turn did not come before the user ended the run.
pub fn not_run(plan: &ModelPlan, selection: &Selection) -> ModelResult {
    let mut tracker = Tracker::new(&plan.tests, |test| selection.ignored.runs(test));
    tracker.interrupted();
    let verdicts = tracker.into_verdicts(&plan.tests);
    ModelResult {
        description: plan.description.clone(),
        package: plan.gate.adapter.package.clone(),
        records: verdicts.records,
        outputs: Vec::new(),
        troubles: verdicts.troubles,
        seconds: 0.0,
    }
}

/// The filters as they were given. Names given exactly may be of several
/// models: each gets its own only, since a gate refuses a name that it lacks.
fn first_args(selection: &Selection, planned: &[String]) -> Vec<OsString> {
    match selection.matching {
        crate::config::Matching::Exact => selection.exact_args(planned.iter().map(String::as_str)),
        crate::config::Matching::Substring => selection.to_args(),
    }
}

fn launch(
    plan: &ModelPlan,
    args: Vec<OsString>,
    options: RunOptions<'_>,
    start: Instant,
    tracker: &mut Tracker,
    consumer: &mut dyn Consumer,
) -> Result<process::Ended, Error> {
    let events = tempfile::NamedTempFile::with_prefix("npugate-events-").map_err(Error::Events)?;
    let mut args = args;
    if options.capture == Capture::Show {
        args.push("--no-capture".into());
    }
    let command = plan.gate.run_command(args, events.path());
    tracker.launch();
    consumer.consume(Update::Launched { command: &command });
    let ended =
        process::follow(command, events.path(), options.capture, options.interrupt, |event| {
            let now = start.elapsed().as_secs_f64();
            match event {
                Some(Ok(event)) => {
                    tracker.event(&event, now);
                    tell(&event, consumer);
                }
                Some(Err(line)) => tracker.bad_line(&line),
                None => {
                    if let Some((name, since)) = tracker.running() {
                        let seconds = now - since;
                        consumer.consume(Update::TestRunning { name, seconds });
                    }
                }
            }
        })?;
    if ended.cut_off && ended.status.success() {
        let reason = "the file ends in the middle of a line".to_owned();
        tracker.bad_line(&BadLine { text: String::new(), reason });
    }
    Ok(ended)
}

fn tell(event: &Event, consumer: &mut dyn Consumer) {
    match event {
        Event::TestStarted { name } => consumer.consume(Update::TestStarted { name }),
        Event::TestFinished { record } => consumer.consume(Update::TestFinished { record }),
        _ => {}
    }
}

/// Lets a gate generate text: stdout and stderr are this program's own.
///
/// # Errors
///
/// The gate cannot be started, or its events cannot be followed.
pub fn generate(
    gate: &Gate,
    args: Vec<OsString>,
) -> Result<(std::process::ExitStatus, Option<Event>), Error> {
    let events = tempfile::NamedTempFile::with_prefix("npugate-events-").map_err(Error::Events)?;
    let command = gate.run_command(args, events.path());
    let mut generated = None;
    let interrupt = Interrupt::default();
    let ended = process::follow(command, events.path(), Capture::Show, &interrupt, |event| {
        if let Some(Ok(event @ Event::Generated { .. })) = event {
            generated = Some(event);
        }
    })?;
    Ok((ended.status, generated))
}

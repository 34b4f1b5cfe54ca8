//! Running a model's tests: in one process, or in as many as crashes make
//! necessary. What happens is told to a [`Consumer`] as it happens.

mod events;
pub mod gone;
mod plan;
mod process;
mod result;
mod tracker;
mod update;

use crate::cli::DeviceArgs;
use crate::config::{Capture, Selection};
use crate::error::Error;
use crate::gate::Gate;
use crate::interrupt::Interrupt;
use crate::text;
use events::BadLine;
use npugate_schema::{Event, Record};
pub use plan::{ModelPlan, PlannedTest, TestSettings};
pub use result::{ModelResult, Tried};
use std::{collections::BTreeMap, ffi::OsString, sync::Arc, time::Instant};
pub use tracker::is_interrupted;
use tracker::{End, Next, Tracker};
pub use update::{Attempt, Consumer, Happening, Update};

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

/// Runs the tests of one model.
///
/// # Errors
///
/// The gate cannot be started, or its events cannot be followed. A test that
/// fails or a gate that dies is no error, but a part of the result.
pub fn run(
    (model, plan): (usize, &Arc<ModelPlan>),
    options: RunOptions<'_>,
    consumer: &mut dyn Consumer,
) -> Result<ModelResult, Error> {
    let mut tell = |what| consumer.consume(&Update { model, plan: plan.clone(), what });
    let start = Instant::now();
    let selection = options.selection;
    let listed: Vec<_> = plan.tests.iter().map(|test| test.listed.clone()).collect();
    let mut tracker = Tracker::new(&listed, |test| selection.ignored.runs(test));
    let planned = tracker.planned().to_vec();
    let awaited = [planned.as_slice(), &plan.gone].concat();
    tell(Happening::Started { planned: awaited });
    let gone: Vec<_> = plan.gone.iter().map(|name| gone::record(name)).collect();
    for record in &gone {
        tell(finished(record.clone(), String::new()));
    }
    let mut outputs = BTreeMap::new();
    let mut args = Some(first_args(selection, &planned)).filter(|_| !planned.is_empty());
    while let Some(mut these) = args.take() {
        these.extend(options.device.to_args());
        let ended = launch(plan, these, options, start, &mut tracker, &mut tell)?;
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
            tell(finished(record.clone(), ended.output.clone()));
            outputs.insert(record.name.clone(), ended.output.clone());
        }
        if crashed.is_some() || !remaining.is_empty() {
            let (output, remaining) = (ended.output, remaining.len());
            tell(Happening::Died { status, output, remaining });
        }
        if !remaining.is_empty() {
            args = Some(selection.exact_args(remaining.iter().map(String::as_str)));
        }
    }
    let mut verdicts = tracker.into_verdicts(&listed);
    verdicts.records.extend(gone);
    let result = ModelResult {
        records: verdicts.records,
        outputs,
        troubles: verdicts.troubles,
        seconds: start.elapsed().as_secs_f64(),
        ..ModelResult::new(plan.description.clone(), &*plan.gate.adapter.package)
    };
    tell(Happening::Finished { result: Arc::new(result.clone()) });
    Ok(result)
}

/// What is left of a model whose turn did not come before the user ended the run.
pub fn not_run(plan: &ModelPlan, selection: &Selection) -> ModelResult {
    let listed: Vec<_> = plan.tests.iter().map(|test| test.listed.clone()).collect();
    let mut tracker = Tracker::new(&listed, |test| selection.ignored.runs(test));
    tracker.interrupted();
    let verdicts = tracker.into_verdicts(&listed);
    ModelResult {
        records: verdicts.records,
        troubles: verdicts.troubles,
        ..ModelResult::new(plan.description.clone(), &*plan.gate.adapter.package)
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
    tell: &mut dyn FnMut(Happening),
) -> Result<process::Ended, Error> {
    let events = tempfile::NamedTempFile::with_prefix("npugate-events-").map_err(Error::Events)?;
    let mut args = args;
    if options.capture == Capture::Show {
        args.push("--no-capture".into());
    }
    let command = plan.gate.run_command(args, events.path());
    tracker.launch();
    tell(Happening::Launched { command: text::command(&command) });
    let ended =
        process::follow(command, events.path(), options.capture, options.interrupt, |event| {
            let now = start.elapsed().as_secs_f64();
            match event {
                Some(Ok(event)) => {
                    tracker.event(&event, now);
                    match event {
                        Event::TestStarted { name } => {
                            tell(Happening::TestStarted { name, attempt: Attempt::ONLY });
                        }
                        Event::TestFinished { record } => tell(finished(record, String::new())),
                        _ => {}
                    }
                }
                Some(Err(line)) => tracker.bad_line(&line),
                None => {}
            }
        })?;
    if ended.cut_off && ended.status.success() {
        let reason = "the file ends in the middle of a line".to_owned();
        tracker.bad_line(&BadLine { text: String::new(), reason });
    }
    Ok(ended)
}

fn finished(record: Record, output: String) -> Happening {
    Happening::TestFinished { record, attempt: Attempt::ONLY, output }
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

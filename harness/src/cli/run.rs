//! Running the selected tests, one after another.

use super::error::CliError;
use super::events::Events;
use super::marks::Marks;
use super::printer::{self, Ended, Finished, Printer};
use super::resolved::{OnFailure, RunOptions, Shuffle};
use super::select::{Choice, Fate, Selected};
use super::shuffle::{random_seed, shuffle};
use crate::schema::{Description, EVENT_SCHEMA, Event, Ignore, Mark, Outcome, Record, Summary};
use libtest_mimic::Conclusion;
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

/// Why a run ends before its last test.
const LOST: &str = "the device accepts no more work from this process";

/// Where a run is reported.
pub(super) struct Sinks<'a> {
    pub printer: Box<dyn Printer>,
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
    pub events: Events,
    /// Whether the caller wants to know which test printed what.
    pub marks: Marks,
}

/// Runs the chosen tests by calling `run` with the name of each, until there are no
/// more or `is_lost` says that this process cannot run another test. The end of the
/// run is not reported then, so that the reader of the events starts another process.
pub(super) fn run(
    mut choice: Choice<'_>,
    description: &Description,
    options: &RunOptions,
    sinks: Sinks<'_>,
    mut run: impl FnMut(&str) -> Option<Record>,
    is_lost: impl Fn() -> bool,
) -> Result<Conclusion, CliError> {
    let start = Instant::now();
    let seed = options.shuffle.map(|order| match order {
        Shuffle::Random => random_seed(),
        Shuffle::Seeded(seed) => seed,
    });
    if let Some(seed) = seed {
        shuffle(&mut choice.tests, seed);
    }
    let Sinks { mut printer, out, err, mut events, marks } = sinks;
    let mut log = Log::create(options.logfile.as_deref())?;
    let planned = choice.tests.iter().filter(|test| test.fate == Fate::Run).count();
    events.send(&Event::RunStarted {
        schema: EVENT_SCHEMA.to_owned(),
        model: description.model.clone(),
        device: description.device.clone(),
        configuration: description.configuration.clone(),
        planned,
    })?;
    printer.begin(out, choice.tests.len(), seed).map_err(CliError::stdout)?;

    let (mut summary, mut failures) = (Summary::default(), Vec::new());
    let mut left = planned;
    for test in &choice.tests {
        printer.started(out, test.name).map_err(CliError::stdout)?;
        if test.fate == Fate::Ignore {
            let reason = reason(test);
            summary.add(&Outcome::Ignored { reason: reason.clone() });
            log.write("ignored", test.name)?;
            let ended = Ended::Ignored { reason: &reason };
            printer.ended(out, test.name, ended).map_err(CliError::stdout)?;
            continue;
        }
        events.send(&Event::TestStarted { name: test.name.to_owned() })?;
        marks.set(Mark::Begin(test.name), out, err).map_err(CliError::stdout)?;
        let record = run(test.name).unwrap_or_else(|| lost(test.name));
        left -= 1;
        marks.set(Mark::End(test.name), out, err).map_err(CliError::stdout)?;
        events.send(&Event::TestFinished { record: record.clone() })?;
        summary.add(&record.outcome);
        printer.ended(out, test.name, Ended::Ran(&record)).map_err(CliError::stdout)?;
        log.write(if record.outcome.is_good() { "ok" } else { "failed" }, test.name)?;
        if !record.outcome.is_good() {
            // Standard error may be closed: the exit code still says it.
            let _ = writeln!(err, "Error: {}", printer::complaint(&record));
            failures.push(record);
            if options.on_failure == OnFailure::Stop {
                break;
            }
        }
        if is_lost() {
            break;
        }
    }
    let cut_short = left > 0 && is_lost();
    if cut_short {
        // As above.
        let _ = writeln!(err, "{LOST}, with {left} tests left to run: start another process");
    }

    let conclusion = conclude(&summary, choice.filtered_out);
    let seconds = start.elapsed().as_secs_f64();
    let finished = Finished { conclusion: &conclusion, failures: &failures, seconds };
    printer.finish(out, finished).map_err(CliError::stdout)?;
    out.flush().map_err(CliError::stdout)?;
    if !cut_short {
        events.send(&Event::RunFinished { summary, seconds })?;
    }
    Ok(conclusion)
}

/// Why a test does not run: it is off by default, or only benchmarks were requested.
fn reason(test: &Selected<'_>) -> String {
    test.off.map_or_else(|| "not a benchmark".to_owned(), Ignore::to_string)
}

/// The record of a test that was planned and cannot be found.
fn lost(name: &str) -> Record {
    const VERDICT: &str =
        "the test was planned but cannot be found: this is a bug in npugate, please report it";
    Record::new(name, Outcome::Failed, VERDICT)
}

/// libtest knows three outcomes: what is not good has failed.
fn conclude(summary: &Summary, filtered_out: usize) -> Conclusion {
    let Summary { passed, failed, regressed, invalid, skipped, ignored, waived } = *summary;
    Conclusion {
        num_filtered_out: filtered_out as u64,
        num_passed: (passed + waived) as u64,
        num_failed: (failed + regressed + invalid + skipped) as u64,
        num_ignored: ignored as u64,
        num_measured: 0,
    }
}

/// libtest's logfile: `ok NAME`.
struct Log(Option<(PathBuf, File)>);

impl Log {
    fn create(path: Option<&Path>) -> Result<Self, CliError> {
        let Some(path) = path else { return Ok(Self(None)) };
        match File::create(path) {
            Ok(file) => Ok(Self(Some((path.to_owned(), file)))),
            Err(error) => Err(CliError::file(path, error)),
        }
    }

    fn write(&mut self, word: &str, name: &str) -> Result<(), CliError> {
        let Some((path, file)) = &mut self.0 else { return Ok(()) };
        writeln!(file, "{word} {name}").map_err(|error| CliError::file(path, error))
    }
}

#[cfg(test)]
pub(super) mod tests;

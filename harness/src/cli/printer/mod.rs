//! What a run prints, in libtest's formats. Why libtest-mimic does not print it is
//! said in [`cli`](super).

mod json;
mod pretty;
mod terse;

use super::resolved::{OutputOptions, Times, Verdicts};
use super::select::Selected;
use super::typed::Format;
use crate::schema::{Outcome, Record};
use anstyle::{AnsiColor, Style};
use libtest_mimic::Conclusion;
use std::io::{self, Write};

/// How a selected test ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ended<'a> {
    /// It ran.
    Ran(&'a Record),
    /// It did not run.
    Ignored {
        /// Why.
        reason: &'a str,
    },
}

/// A whole run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished<'a> {
    pub conclusion: &'a Conclusion,
    /// The records of the tests that failed.
    pub failures: &'a [Record],
    pub seconds: f64,
}

/// Prints a run as it goes.
pub(super) trait Printer {
    /// The run begins; a shuffled one has a seed.
    fn begin(&mut self, out: &mut dyn Write, tests: usize, seed: Option<u64>) -> io::Result<()>;

    /// A test begins.
    fn started(&mut self, out: &mut dyn Write, name: &str) -> io::Result<()>;

    /// The test that began last ended.
    fn ended(&mut self, out: &mut dyn Write, name: &str, ended: Ended<'_>) -> io::Result<()>;

    /// The run ended.
    fn finish(&mut self, out: &mut dyn Write, finished: Finished<'_>) -> io::Result<()>;
}

/// The printer of a format.
pub(super) fn of(options: OutputOptions, tests: &[Selected<'_>]) -> Box<dyn Printer> {
    let OutputOptions { format, verdicts, times, .. } = options;
    match format {
        Format::Pretty => {
            let width = tests.iter().map(|test| test.name.len()).max().unwrap_or_default();
            Box::new(pretty::Pretty { width, verdicts, times })
        }
        Format::Terse => Box::new(terse::Terse::default()),
        Format::Json => Box::new(json::Json { times }),
    }
}

/// The line about a failed test that goes to standard error, where nextest finds
/// the message for its `JUnit` report: `NAME: cosine 0.9 < 0.99`, with the word of
/// the outcome before it where that is not a plain failure.
pub(super) fn complaint(record: &Record) -> String {
    let what = verdict(record);
    match &record.outcome {
        Outcome::Failed => format!("{}: {what}", record.name),
        outcome => format!("{}: {outcome}: {what}", record.name),
    }
}

/// What a record says, in one line.
fn verdict(record: &Record) -> &str {
    match record.verdict.as_str() {
        "" => record.outcome.reason().unwrap_or("no verdict"),
        verdict => verdict,
    }
}

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const OFF: Style = AnsiColor::Yellow.on_default();

/// libtest's word for an outcome, and in brackets what libtest has no word for:
/// `ok`, `ok (waived)`, `FAILED`, `FAILED (invalid)`, `ignored, REASON`.
fn word(ended: Ended<'_>) -> (Style, String) {
    match ended {
        Ended::Ignored { reason } => (OFF, format!("ignored, {reason}")),
        Ended::Ran(record) => match &record.outcome {
            Outcome::Passed => (GOOD, "ok".to_owned()),
            Outcome::Ignored { reason } => (OFF, format!("ignored, {reason}")),
            Outcome::Failed => (BAD, "FAILED".to_owned()),
            outcome if outcome.is_good() => (GOOD, format!("ok ({outcome})")),
            outcome => (BAD, format!("FAILED ({outcome})")),
        },
    }
}

/// `failures:`, each with its verdict, then their names, as libtest prints them.
fn print_failures(out: &mut dyn Write, failures: &[Record]) -> io::Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    write!(out, "\nfailures:\n\n")?;
    for record in failures {
        writeln!(out, "---- {} ----\n{}\n", record.name, verdict(record))?;
    }
    write!(out, "\nfailures:\n")?;
    for record in failures {
        writeln!(out, "    {}", record.name)?;
    }
    Ok(())
}

fn print_title(out: &mut dyn Write, tests: usize, seed: Option<u64>) -> io::Result<()> {
    let plural = if tests == 1 { "" } else { "s" };
    let seed = seed.map_or(String::new(), |seed| format!(" (shuffle seed: {seed})"));
    writeln!(out, "\nrunning {tests} test{plural}{seed}")
}

fn print_summary(out: &mut dyn Write, finished: Finished<'_>) -> io::Result<()> {
    let Finished { conclusion, seconds, .. } = finished;
    let (style, word) = if conclusion.has_failed() { (BAD, "FAILED") } else { (GOOD, "ok") };
    writeln!(
        out,
        "\ntest result: {style}{word}{style:#}. {} passed; {} failed; {} ignored; {} measured; {} filtered out; finished in {seconds:.2}s\n",
        conclusion.num_passed,
        conclusion.num_failed,
        conclusion.num_ignored,
        conclusion.num_measured,
        conclusion.num_filtered_out,
    )
}

#[cfg(test)]
mod tests;

//! The tests of a run that did not pass, each once and in full: its verdict, its
//! figures, what it printed, and what to do next.

use super::table::{Align, Table};
use super::{Run, words};
use crate::runner::{Attempt, ModelResult, Tried};
use crate::shell::{Shell, Tone, Verbosity};
use crate::text;
use npugate_schema::{CheckId, Direction, Metric, NotRun, Outcome, Record};
use std::collections::BTreeMap;

/// The number of figures of a test that are shown.
const METRICS: usize = 12;

/// The number of lines of a test's output that are shown.
const OUTPUT: usize = 40;

/// The number of lines of an earlier attempt's output that are shown.
const EARLIER_OUTPUT: usize = 10;

/// If more tests than this were skipped for one reason, they are shown as one line.
const ALIKE: usize = 1;

/// The tests of a model that did not pass, without those that an ending run left out.
pub fn of(result: &ModelResult) -> impl Iterator<Item = &Record> {
    let waited_for = |record: &Record| !record.not_run.is_some_and(NotRun::run_ended);
    result.records.iter().filter(move |record| !record.outcome.is_good() && waited_for(record))
}

/// Shows the tests that did not pass.
pub fn print(results: &[ModelResult], run: &Run, shell: &mut Shell) {
    for result in results {
        let mut skipped = BTreeMap::<&str, usize>::new();
        for record in of(result) {
            if let Outcome::Skipped { reason } = &record.outcome {
                *skipped.entry(reason).or_default() += 1;
            }
        }
        skipped.retain(|_, tests| *tests > ALIKE);
        for record in of(result) {
            match &record.outcome {
                Outcome::Skipped { reason } if skipped.contains_key(reason.as_str()) => {}
                _ => show(result, record, run, shell),
            }
        }
        for (reason, tests) in skipped {
            separate(shell);
            let model = &result.description.model;
            let message = format!("{model}: {} ({reason})", text::count(tests, "test"));
            shell.status_always(Tone::Odd, "SKIP", message);
        }
    }
}

fn separate(shell: &mut Shell) {
    if shell.verbosity() > Verbosity::Quiet {
        shell.line("");
    }
}

fn show(result: &ModelResult, record: &Record, run: &Run, shell: &mut Shell) {
    separate(shell);
    let model = &result.description.model;
    let (tone, verb) = words::verb(&record.outcome);
    if record.not_run == Some(NotRun::Gone) {
        shell.status_always(tone, &verb, words::line(model, record, Attempt::ONLY));
        return;
    }
    let Record { name, seconds, verdict, .. } = record;
    shell.status_always(tone, &verb, format_args!("[{seconds:>8.3}s] {model} {name}"));
    shell.detail(verdict);
    // A reason that the verdict does not give.
    if let Some(reason) = record.outcome.reason().filter(|reason| !verdict.contains(*reason)) {
        shell.detail(reason);
    }
    if let Some(metrics) = metrics(&record.metrics) {
        shell.detail(&metrics);
    }
    if let Some(output) = result.outputs.get(name) {
        shell.detail(&output_end(output, OUTPUT));
    }
    let earlier = result.earlier.get(name).into_iter().flatten();
    for (number, Tried { record, output }) in (1..).zip(earlier) {
        let verb = words::attempt(number, &record.outcome);
        let verdict = record.verdict.lines().next().unwrap_or_default();
        shell.detail(&format!("{verb} [{:>8.3}s]: {verdict}", record.seconds));
        shell.detail(&output_end(output, EARLIER_OUTPUT));
    }
    for attachment in &record.attachments {
        shell.detail(&format!("file: {}", attachment.display()));
    }
    if let Some(rerun) = run.reruns.line(model, &result.package, record) {
        shell.detail(&format!("rerun: {rerun}"));
    }
    if let Some(check) = CheckId::of(name) {
        shell.detail(&format!("explain: cargo npugate --explain {check}"));
    }
}

/// The figures of a test as a table, those beyond their limits first, or `None` if there
/// are no figures.
fn metrics(metrics: &[Metric]) -> Option<String> {
    if metrics.is_empty() {
        return None;
    }
    let (within, beyond): (Vec<_>, Vec<_>) =
        metrics.iter().partition(|metric| metric.within_limit());
    let mut table = Table::new([
        ("metric", Align::Left),
        ("value", Align::Right),
        ("limit", Align::Right),
        ("used", Align::Right),
    ]);
    for metric in beyond.iter().chain(&within).take(METRICS) {
        let limit = metric.limit.filter(|_| metric.direction != Direction::Neutral);
        let limit =
            limit.map(|limit| format!("{} {}", words::sign(metric.direction), text::number(limit)));
        let used = metric.used().map(text::share);
        table.row(vec![
            metric.key(),
            text::number(metric.value),
            limit.unwrap_or_default(),
            used.unwrap_or_default(),
        ]);
    }
    Some(match metrics.len() {
        ..=METRICS => table.to_string(),
        all => format!("{table}... {} more\n", all - METRICS),
    })
}

fn output_end(output: &str, most: usize) -> String {
    text::quoted(&text::last_lines(output, most))
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;

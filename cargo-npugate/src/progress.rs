//! Progress on the terminal: a line for each phase, each failure as it comes,
//! and a live line for what runs now.

use crate::runner::{
    Consumer, Happening, ModelPlan, ModelResult, Update, gone, is_interrupted, is_past_max_fail,
};
use crate::shell::{Shell, Tone, Verbosity};
use crate::text;
use npugate_schema::{Description, Metric, Outcome, Phase, Record, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// A test that takes longer than this is named once.
const SLOW: f64 = 60.0;

/// How much of a dead process's output is shown.
const SHOWN_LINES: usize = 20;

/// Shows a run on the terminal.
pub struct Progress<'a> {
    shell: &'a mut Shell,
    model: String,
    phases: BTreeMap<String, PhaseProgress>,
    done: usize,
    planned: usize,
    slow: BTreeSet<String>,
}

/// One phase of one model.
#[derive(Default)]
struct PhaseProgress {
    planned: usize,
    records: Vec<Record>,
    shown: bool,
}

impl<'a> Progress<'a> {
    /// Shows a run on this shell.
    pub fn new(shell: &'a mut Shell) -> Self {
        Self {
            shell,
            model: String::new(),
            phases: BTreeMap::new(),
            done: 0,
            planned: 0,
            slow: BTreeSet::new(),
        }
    }

    fn model_started(&mut self, plan: &ModelPlan, planned: &[String]) {
        let description = &plan.description;
        self.model.clone_from(&description.model);
        self.phases.clear();
        self.slow.clear();
        (self.done, self.planned) = (0, planned.len());
        for name in planned {
            self.phases.entry(phase(name)).or_default().planned += 1;
        }
        let Description { model, device, configuration, .. } = description;
        let message = if configuration.is_empty() {
            format!("{model} on {device}")
        } else {
            format!("{model} on {device} ({configuration})")
        };
        self.shell.status(Tone::Good, "Running", message);
    }

    fn running(&mut self, name: &str, seconds: f64) {
        if seconds >= SLOW && self.slow.insert(name.to_owned()) {
            let model = &self.model;
            self.shell.status(Tone::Odd, "SLOW", format_args!("[>   {SLOW:.0}s] {model} {name}"));
        }
        let (done, planned) = (self.done, self.planned);
        let elapsed = if seconds >= 1.0 { format!(" {seconds:.0}s") } else { String::new() };
        self.shell.live(&phase(name), &format!("[{done}/{planned}] {name}{elapsed}"));
    }

    fn finished(&mut self, record: &Record) {
        self.done += 1;
        // The summary counts them.
        if is_interrupted(record) || is_past_max_fail(record) {
            return;
        }
        let loud = !matches!(record.outcome, Outcome::Passed | Outcome::Ignored { .. });
        if loud || self.shell.verbosity() >= Verbosity::Verbose {
            show(self.shell, &self.model, record);
        }
        let phase = phase(&record.name);
        let progress = self.phases.entry(phase.clone()).or_default();
        progress.records.push(record.clone());
        if progress.records.len() >= progress.planned {
            self.phase_ended(&phase);
        }
    }

    fn phase_ended(&mut self, phase: &str) {
        let Some(progress) = self.phases.get_mut(phase) else { return };
        if std::mem::replace(&mut progress.shown, true) || progress.records.is_empty() {
            return;
        }
        let records = &progress.records;
        let tone = tone_of(records.iter().map(|record| &record.outcome));
        let counts = counts(&records.iter().map(|record| &record.outcome).collect());
        let time = text::duration(records.iter().map(|record| record.seconds).sum());
        let message = match tightest(records) {
            Some((record, metric, used)) => format!(
                "{counts} in {time}, tightest {}: {} at {} of the allowed error",
                record.name,
                metric.key(),
                text::share(used)
            ),
            None => format!("{counts} in {time}"),
        };
        self.shell.status(tone, phase, message);
    }

    fn died(&mut self, status: &str, output: &str, remaining: usize) {
        let lines: Vec<_> = output.trim_start_matches('\n').lines().collect();
        let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        if !shown.is_empty() {
            self.shell.detail("the end of what it printed:");
            for line in shown {
                self.shell.detail(&format!("| {line}"));
            }
        }
        if remaining > 0 {
            let rest = text::count(remaining, "test");
            let message = format!("{} after {status}: {rest} to go", self.model);
            self.shell.status(Tone::Odd, "Restarting", message);
        }
    }

    fn model_finished(&mut self, result: &ModelResult) {
        let open: Vec<_> = self.phases.keys().cloned().collect();
        for phase in open {
            self.phase_ended(&phase);
        }
        let ignored = |record: &&Record| matches!(record.outcome, Outcome::Ignored { .. });
        let mut reasons = BTreeMap::<&str, usize>::new();
        for record in result.records.iter().filter(ignored) {
            *reasons.entry(record.outcome.reason().unwrap_or_default()).or_default() += 1;
        }
        for (reason, n) in reasons {
            self.shell.status(
                Tone::Odd,
                "Ignored",
                format!("{} ({reason})", text::count(n, "test")),
            );
        }
        if let Some(blocked) = &result.blocked {
            self.shell.error(blocked.reason());
        }
        for trouble in &result.troubles {
            self.shell.error(format_args!("the gate of {} is broken: {trouble}", self.model));
        }
    }
}

impl Consumer for Progress<'_> {
    fn consume(&mut self, update: &Update) {
        match &update.what {
            Happening::Started { planned } => self.model_started(&update.plan, planned),
            Happening::Launched { command } => self.shell.executing(command),
            Happening::TestStarted { name, .. } => self.running(name, 0.0),
            Happening::TestSlow { name, seconds } => self.running(name, *seconds),
            Happening::TestFinished { record, .. } => self.finished(record),
            Happening::Died { status, output, remaining } => self.died(status, output, *remaining),
            Happening::Finished { result } => self.model_finished(result),
            Happening::Waiting { .. } | Happening::TestRetrying { .. } => {}
        }
    }
}

/// A test's line with its verdict: a pass in one line, anything else in more.
pub fn show(shell: &mut Shell, model: &str, record: &Record) {
    let (tone, verb) = verb(&record.outcome);
    let (name, seconds) = (&record.name, record.seconds);
    if gone::is_gone(record) {
        // It took no time.
        shell.status_always(tone, verb, format_args!("{model} {name}: {}", record.verdict));
        return;
    }
    let line = format!("[{seconds:>8.3}s] {model} {name}");
    if tone == Tone::Good {
        shell.status(tone, verb, format_args!("{line}: {}", record.verdict));
    } else {
        shell.status_always(tone, verb, line);
        shell.detail(&record.verdict);
        // A reason that the verdict does not give.
        if let Some(reason) = record.outcome.reason().filter(|why| !record.verdict.contains(*why)) {
            shell.detail(reason);
        }
    }
}

/// The word for an outcome, and how it is to be read.
pub fn verb(outcome: &Outcome) -> (Tone, &'static str) {
    match outcome {
        Outcome::Passed => (Tone::Good, "PASS"),
        Outcome::Failed => (Tone::Bad, "FAIL"),
        Outcome::Regressed => (Tone::Bad, "REGRESSED"),
        Outcome::Crashed { .. } => (Tone::Bad, "CRASH"),
        Outcome::TimedOut { .. } => (Tone::Bad, "TIMEOUT"),
        Outcome::Invalid { .. } => (Tone::Odd, "INVALID"),
        Outcome::Skipped { .. } => (Tone::Odd, "SKIP"),
        Outcome::Waived { .. } => (Tone::Odd, "WAIVED"),
        Outcome::Ignored { .. } => (Tone::Odd, "IGNORED"),
        _ => (Tone::Odd, "UNKNOWN"),
    }
}

/// The worst tone among outcomes. What was not asked for does not count.
pub fn tone_of<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Tone {
    let tones: Vec<_> = outcomes
        .filter(|outcome| !matches!(outcome, Outcome::Ignored { .. }))
        .map(|outcome| verb(outcome).0)
        .collect();
    [Tone::Bad, Tone::Odd].into_iter().find(|tone| tones.contains(tone)).unwrap_or(Tone::Good)
}

/// `20 passed, 1 failed`: what there is, the worst last.
pub fn counts(summary: &Summary) -> String {
    let &Summary { passed, failed, regressed, invalid, skipped, ignored, waived } = summary;
    let mut words = vec![format!("{passed} passed")];
    for (n, word) in [
        (waived, "waived"),
        (ignored, "ignored"),
        (skipped, "skipped"),
        (invalid, "invalid"),
        (regressed, "regressed"),
        (failed, "failed"),
    ] {
        if n > 0 {
            words.push(format!("{n} {word}"));
        }
    }
    words.join(", ")
}

/// The passed test that comes closest to its limit, the metric that does, and
/// the share of the allowed error that it uses. None if nothing uses any.
pub fn tightest(records: &[Record]) -> Option<(&Record, &Metric, f64)> {
    records
        .iter()
        .filter(|record| record.outcome == Outcome::Passed)
        .filter_map(|record| record.tightest().map(|(metric, used)| (record, metric, used)))
        .filter(|(_, _, used)| *used > 0.0)
        .max_by(|a, b| a.2.total_cmp(&b.2))
}

fn phase(test: &str) -> String {
    match Phase::of(test) {
        Some(phase) => phase.to_string(),
        None => text::ellipsis(test.split("::").next().unwrap_or(test), 12),
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;

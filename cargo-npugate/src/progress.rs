//! Progress on stderr: a line for each phase of a model, a line for each failure as it
//! happens, and on a terminal a live area that shows what is running.

mod live;

use crate::report::words;
use crate::runner::{Attempt, Consumer, Happening, ModelPlan, ModelResult, Update};
use crate::shell::{Shell, Tone, Verbosity};
use crate::text;
use live::Live;
use npugate_schema::{Description, Holder, NotRun, Outcome, Record};
use std::collections::BTreeMap;

/// How many lines to show of the output of a process that died outside its tests.
const SHOWN_LINES: usize = 20;

/// Shows a run on stderr.
pub struct Progress<'a> {
    shell: &'a mut Shell,
    models: BTreeMap<usize, ModelProgress>,
    live: Live,
    /// The process that was last reported to hold a device, so that it is reported once.
    holder: Option<Holder>,
}

/// How far a model has come.
#[derive(Default)]
struct ModelProgress {
    phases: BTreeMap<String, PhaseProgress>,
    /// The slow tests, and after how many seconds each was last reported as slow.
    slow: BTreeMap<String, f64>,
    /// Whether the process died in a test, which then has the output.
    culprit: bool,
}

/// How far a phase of a model has come.
#[derive(Default)]
struct PhaseProgress {
    planned: usize,
    records: Vec<Record>,
    shown: bool,
}

impl<'a> Progress<'a> {
    /// Shows a run of this number of tests.
    pub fn new(shell: &'a mut Shell, tests: usize) -> Self {
        let live = Live::new(shell.area(), tests);
        Self { shell, models: BTreeMap::new(), live, holder: None }
    }

    fn waiting(&mut self, update: &Update, holder: &Holder) {
        let message = format!("waiting for the NPU (held by {holder})");
        let model = &update.plan.description.model;
        self.live.waiting(update.model, model, &message);
        // How long it has held the device changes all the time.
        let who = Holder { seconds: None, ..holder.clone() };
        if self.holder.as_ref() != Some(&who) {
            self.holder = Some(who);
            self.shell.status(Tone::Info, "Blocking", message);
        }
    }

    fn model_started(&mut self, index: usize, plan: &ModelPlan, planned: &[String]) {
        let description = &plan.description;
        let mut progress = ModelProgress::default();
        for name in planned {
            progress.phases.entry(words::phase(name)).or_default().planned += 1;
        }
        self.models.insert(index, progress);
        self.holder = None;
        let Description { model, device, configuration, .. } = description;
        let message = if configuration.is_empty() {
            format!("{model} on {device}")
        } else {
            format!("{model} on {device} ({configuration})")
        };
        self.shell.status(Tone::Good, "Running", message);
        self.live.model_started(index, model);
    }

    fn slow(&mut self, (index, model): (usize, &str), name: &str, seconds: f64) {
        let slow = &mut self.models.entry(index).or_default().slow;
        // It is reported again each time that it has taken twice as long.
        if slow.get(name).is_none_or(|said| seconds >= said * 2.0) {
            slow.insert(name.to_owned(), seconds);
            self.shell.status(Tone::Odd, "SLOW", format_args!("[> {seconds:.0}s] {model} {name}"));
        }
    }

    fn retrying(&mut self, update: &Update, record: &Record, attempt: Attempt) {
        let model = &update.plan.description.model;
        let progress = self.models.entry(update.model).or_default();
        progress.slow.remove(&record.name);
        progress.culprit = true;
        let verb = words::attempt(attempt.number, &record.outcome);
        // The verb has the attempt's number.
        let line = words::line(model, record, Attempt::ONLY);
        self.shell.status(Tone::Odd, &verb, line);
        self.live.test_ended(update.model);
    }

    fn finished(&mut self, update: &Update, record: &Record, attempt: Attempt) {
        // The summary counts these tests.
        if record.not_run.is_some_and(NotRun::run_ended) {
            return;
        }
        let (index, model) = (update.model, &update.plan.description.model);
        let (tone, verb) = words::verb(&record.outcome);
        let line = words::line(model, record, attempt);
        match &record.outcome {
            Outcome::Passed | Outcome::Ignored { .. } => {
                if self.shell.verbosity() >= Verbosity::Verbose {
                    self.shell.status(tone, &verb, line);
                }
            }
            // It counts as a success, so the summary does not show it again.
            Outcome::Waived { reason } => {
                self.shell.status_always(tone, &verb, line);
                if !record.verdict.contains(reason.as_str()) {
                    self.shell.detail(reason);
                }
            }
            _ => self.shell.status_always(tone, &verb, line),
        }
        self.live.test_finished(index, &record.outcome);
        let progress = self.models.entry(index).or_default();
        progress.culprit |=
            matches!(record.outcome, Outcome::Crashed { .. } | Outcome::TimedOut { .. });
        let phase = words::phase(&record.name);
        let of_phase = progress.phases.entry(phase.clone()).or_default();
        of_phase.records.push(record.clone());
        if of_phase.records.len() >= of_phase.planned {
            self.phase_ended((index, model), &phase);
        }
    }

    fn phase_ended(&mut self, (index, model): (usize, &str), phase: &str) {
        let phases = self.models.get_mut(&index).map(|model| &mut model.phases);
        let Some(progress) = phases.and_then(|phases| phases.get_mut(phase)) else { return };
        if std::mem::replace(&mut progress.shown, true) || progress.records.is_empty() {
            return;
        }
        let records = &progress.records;
        let tone = words::tone_of(records.iter().map(|record| &record.outcome));
        let counts = words::counts(&records.iter().map(|record| &record.outcome).collect());
        let time = text::duration(records.iter().map(|record| record.seconds).sum());
        let message = match words::tightest(records) {
            Some((record, metric, used)) => format!(
                "{model}: {counts} in {time}, tightest {}: {} at {} of the allowed error",
                record.name,
                metric.key(),
                text::share(used)
            ),
            None => format!("{model}: {counts} in {time}"),
        };
        self.shell.status(tone, phase, message);
    }

    fn died(&mut self, update: &Update, status: &str, output: &str, remaining: usize) {
        let progress = self.models.entry(update.model).or_default();
        // A test that died with its process shows the output in the summary.
        if !std::mem::take(&mut progress.culprit) {
            let lines = text::last_lines(output, SHOWN_LINES);
            if !lines.is_empty() {
                self.shell.detail("the end of its output:");
                self.shell.detail(&text::quoted(&lines));
            }
        }
        self.live.test_ended(update.model);
        if remaining > 0 {
            let model = &update.plan.description.model;
            let rest = text::count(remaining, "test");
            let message = format!("{model} after {status}: {rest} left");
            self.shell.status(Tone::Odd, "Restarting", message);
        }
    }

    fn model_finished(&mut self, index: usize, result: &ModelResult) {
        let model = &result.description.model;
        let phases = self.models.get(&index).map(|model| &model.phases);
        let open: Vec<_> = phases.into_iter().flat_map(BTreeMap::keys).cloned().collect();
        for phase in open {
            self.phase_ended((index, model), &phase);
        }
        self.live.model_finished(index);
        let ignored = |record: &&Record| matches!(record.outcome, Outcome::Ignored { .. });
        let mut reasons = BTreeMap::<&str, usize>::new();
        for record in result.records.iter().filter(ignored) {
            *reasons.entry(record.outcome.reason().unwrap_or_default()).or_default() += 1;
        }
        for (reason, n) in reasons {
            let message = format!("{model}: {} ({reason})", text::count(n, "test"));
            self.shell.status(Tone::Odd, "Ignored", message);
        }
        if let Some(blocked) = &result.blocked {
            self.shell.error(blocked.reason());
        }
        for trouble in &result.troubles {
            self.shell.error(format_args!("the gate of {model} is broken: {trouble}"));
        }
    }
}

impl Consumer for Progress<'_> {
    fn consume(&mut self, update: &Update) {
        let (index, model) = (update.model, update.plan.description.model.as_str());
        match &update.what {
            Happening::Waiting { holder } => self.waiting(update, holder),
            Happening::Started { planned } => self.model_started(index, &update.plan, planned),
            Happening::Launched { command } => {
                self.models.entry(index).or_default().culprit = false;
                self.shell.executing(command);
            }
            Happening::TestStarted { name, attempt } => {
                self.live.test_started(index, name, *attempt);
            }
            Happening::TestSlow { name, seconds } => self.slow((index, model), name, *seconds),
            Happening::TestRetrying { record, attempt, .. } => {
                self.retrying(update, record, *attempt);
            }
            Happening::TestFinished { record, attempt, .. } => {
                self.finished(update, record, *attempt);
            }
            Happening::Died { status, output, remaining } => {
                self.died(update, status, output, *remaining);
            }
            Happening::Noted(note) => self.shell.warn(format_args!("{model}: {note}")),
            Happening::Finished { result } => self.model_finished(index, result),
        }
    }

    fn tick(&mut self) {
        self.live.tick();
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;

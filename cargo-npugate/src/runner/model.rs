//! One model's turn: a first pass over its tests, then passes over those that did not pass
//! and may be retried.

use super::pass::{self, Round, Step};
use super::{Attempt, Happening, ModelPlan, ModelResult, NoVerdict, RunError, RunOptions, Tried};
use crate::waiver;
use npugate_schema::{NotRun, Outcome, Record};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// Runs the tests of one model.
///
/// # Errors
///
/// The gate cannot be started, or its events cannot be followed. A test that
/// fails or a gate that dies is not an error, but a part of the result.
pub fn run(
    plan: &ModelPlan,
    options: &RunOptions,
    tell: &mut dyn FnMut(Happening),
) -> Result<ModelResult, RunError> {
    let start = Instant::now();
    let planned = plan.planned(options.selection.ignored);
    tell(Happening::Started { planned: [planned.as_slice(), &plan.gone].concat() });
    let mut turn = Turn::new(plan, options, tell);
    for name in &plan.gone {
        turn.judged(NoVerdict::Gone.record(name), String::new());
    }
    let mut passed = pass::run(plan, Round::First(&planned), options, |step| turn.step(step))?;
    let mut troubles = std::mem::take(&mut passed.troubles);
    while passed.stopped.is_none() && passed.blocked.is_none() && !turn.again.is_empty() {
        let names = turn.next_round();
        passed = pass::run(plan, Round::Again(&names), options, |step| turn.step(step))?;
        troubles.extend(std::mem::take(&mut passed.troubles));
    }
    if let Some(stop) = passed.stopped {
        turn.settle(&stop.into());
    } else if let Some(blocked) = &passed.blocked {
        turn.settle(&blocked.clone().into());
    }
    let result = ModelResult {
        troubles,
        blocked: passed.blocked,
        seconds: start.elapsed().as_secs_f64(),
        ..turn.into_result()
    };
    tell(Happening::Finished { result: Arc::new(result.clone()) });
    Ok(result)
}

/// The result of a model that did not run, or could not.
pub fn not_run(plan: &ModelPlan, options: &RunOptions, why: &NoVerdict) -> ModelResult {
    let mut nobody = |_| {};
    let mut turn = Turn::new(plan, options, &mut nobody);
    for name in plan.planned(options.selection.ignored) {
        let record = why.record(&*name);
        turn.records.insert(name, record);
    }
    turn.into_result()
}

/// A model's turn.
struct Turn<'a> {
    plan: &'a ModelPlan,
    options: &'a RunOptions,
    tell: &'a mut dyn FnMut(Happening),
    /// The number of the current pass, from 1 up.
    number: u32,
    records: BTreeMap<String, Record>,
    outputs: BTreeMap<String, String>,
    earlier: BTreeMap<String, Vec<Tried>>,
    /// The tests to retry.
    again: Vec<String>,
}

impl<'a> Turn<'a> {
    fn new(
        plan: &'a ModelPlan,
        options: &'a RunOptions,
        tell: &'a mut dyn FnMut(Happening),
    ) -> Self {
        Self {
            plan,
            options,
            tell,
            number: 1,
            records: BTreeMap::new(),
            outputs: BTreeMap::new(),
            earlier: BTreeMap::new(),
            again: Vec::new(),
        }
    }

    fn attempt(&self, name: &str) -> Attempt {
        Attempt { number: self.number, of: self.plan.settings(name).retries + 1 }
    }

    fn next_round(&mut self) -> Vec<String> {
        self.number += 1;
        std::mem::take(&mut self.again)
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Happens(happening) => (self.tell)(happening),
            Step::Begins(name) => {
                let attempt = self.attempt(&name);
                (self.tell)(Happening::TestStarted { name, attempt });
            }
            Step::Judged(record, output) => self.judged(record, output),
        }
    }

    /// Handles a verdict: the last one, or one that a retry may improve.
    fn judged(&mut self, mut record: Record, mut output: String) {
        // The run ended before the test could be retried, so its last attempt counts.
        if record.not_run.is_some_and(NotRun::run_ended)
            && let Some(tried) = self.earlier.get_mut(&record.name).and_then(Vec::pop)
        {
            (record, output) = (tried.record, tried.output);
            self.ended(record, output);
            return;
        }
        let waivers = self.plan.waivers(&record.name);
        for note in waiver::apply(&mut record, waivers, self.options.today) {
            (self.tell)(Happening::Noted(note.to_string()));
        }
        let attempt = self.attempt(&record.name);
        if attempt.number < attempt.of && may_better(&record.outcome) {
            self.again.push(record.name.clone());
            let tried = Tried { record: record.clone(), output: output.clone() };
            self.earlier.entry(record.name.clone()).or_default().push(tried);
            (self.tell)(Happening::TestRetrying { record, attempt, output });
            return;
        }
        if attempt.number > 1 && record.outcome.is_good() {
            self.classify(&mut record, attempt);
        }
        self.options.brake.note(&record);
        self.ended(record, output);
    }

    /// Records the final verdict of a test.
    fn ended(&mut self, record: Record, output: String) {
        let attempt = self.attempt(&record.name);
        if !record.outcome.is_good() && !output.is_empty() {
            self.outputs.insert(record.name.clone(), output.clone());
        }
        self.records.insert(record.name.clone(), record.clone());
        (self.tell)(Happening::TestFinished { record, attempt, output });
    }

    /// Marks a test that did not pass and then did as flaky, which counts as its settings say.
    fn classify(&self, record: &mut Record, attempt: Attempt) {
        let first = self.earlier.get(&record.name).and_then(|tried| tried.first());
        let first = first.map_or("", |tried| &*tried.record.verdict);
        record.verdict = format!(
            "did not pass at first, but passed in attempt {attempt}: {}; first attempt: {first}",
            record.verdict
        );
        record.outcome = Outcome::Flaky {
            attempt: attempt.number,
            attempts: attempt.of,
            result: self.plan.settings(&record.name).flaky,
        };
    }

    /// The run ends: tests that were to be retried keep their last verdict.
    fn settle(&mut self, why: &NoVerdict) {
        for name in std::mem::take(&mut self.again) {
            let tried = self.earlier.get_mut(&name).and_then(Vec::pop);
            let (record, output) = tried.map_or_else(
                || (why.record(&*name), String::new()),
                |tried| (tried.record, tried.output),
            );
            self.ended(record, output);
        }
    }

    /// The records in the listing's order, with those of tests that are off.
    fn into_result(mut self) -> ModelResult {
        let mut ordered = Vec::with_capacity(self.plan.tests.len());
        for test in &self.plan.tests {
            let listed = &test.listed;
            let off = || {
                let reason = listed.ignored.as_ref()?.to_string();
                Some(Record::new(
                    &*listed.name,
                    Outcome::Ignored { reason: reason.clone() },
                    reason,
                ))
            };
            ordered.extend(self.records.remove(&listed.name).or_else(off));
        }
        // Tests that are gone, and those that the gate ran without listing them.
        ordered.extend(self.records.into_values());
        self.earlier.retain(|_, tried| !tried.is_empty());
        ModelResult {
            records: ordered,
            earlier: self.earlier,
            outputs: self.outputs,
            ..ModelResult::new(self.plan.description.clone(), &*self.plan.gate.adapter.package)
        }
    }
}

/// Whether another attempt could have a better outcome. A test that could not judge or could
/// not run would only report that again.
fn may_better(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Failed | Outcome::Regressed | Outcome::Crashed { .. } | Outcome::TimedOut { .. }
    )
}

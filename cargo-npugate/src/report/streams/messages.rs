//! A run as the messages of `npugate-schema`, for programs that want every detail.

use super::{End, Sink, Stream};
use crate::report::{Reruns, Run, summary};
use crate::runner::{Attempt, Blocked, Consumer, Happening, ModelPlan, ModelResult, Update};
use npugate_schema::{AttemptOf, MESSAGE_SCHEMA, Message, Obstacle, PlannedModel, Record};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Writes a message for each thing that happens.
pub(super) struct Messages {
    sink: Sink,
    reruns: Reruns,
    models: BTreeMap<String, Told>,
}

/// What has been reported about a model.
#[derive(Default)]
struct Told {
    /// The tests whose verdicts were reported.
    tests: BTreeSet<String>,
    finished: bool,
}

impl Messages {
    /// Reports the start of a run.
    pub(super) fn start(sink: Sink, plans: &[Arc<ModelPlan>], run: &Run) -> Self {
        let (reruns, models) = (run.reruns.clone(), BTreeMap::new());
        let mut messages = Self { sink, reruns, models };
        messages.tell(&Message::RunStarted {
            schema: MESSAGE_SCHEMA.to_owned(),
            models: plans.iter().map(|plan| planned(plan)).collect(),
            effort: run.effort.as_str().to_owned(),
            partition: run.partition.clone(),
        });
        messages
    }

    fn tell(&mut self, message: &Message) {
        // Every message can be written as JSON.
        if let Ok(line) = serde_json::to_string(message) {
            self.sink.line(&line);
        }
    }

    fn test_finished(
        &mut self,
        (model, package): (&str, &str),
        record: &Record,
        attempt: Attempt,
        output: &str,
    ) {
        self.models.entry(model.to_owned()).or_default().tests.insert(record.name.clone());
        self.tell(&Message::TestFinished {
            model: model.to_owned(),
            package: package.to_owned(),
            record: record.clone(),
            attempt: attempt_of(attempt),
            output: output.to_owned(),
            rerun: self.reruns.line(model, package, record),
        });
    }

    /// Reports what is still missing: tests that did not run have verdicts, too.
    fn model_finished(&mut self, result: &ModelResult) {
        let (model, package) = (&result.description.model, &result.package);
        let told = self.models.entry(model.clone()).or_default();
        if std::mem::replace(&mut told.finished, true) {
            return;
        }
        let told = told.tests.clone();
        for record in result.records.iter().filter(|record| !told.contains(&record.name)) {
            let output = result.outputs.get(&record.name).map_or("", String::as_str);
            self.test_finished((model, package), record, Attempt::ONLY, output);
        }
        self.tell(&Message::ModelFinished {
            model: model.clone(),
            package: package.clone(),
            troubles: result.troubles.clone(),
            blocked: result.blocked.as_ref().map(obstacle),
            seconds: result.seconds,
        });
    }
}

impl Consumer for Messages {
    fn consume(&mut self, update: &Update) {
        let name = || update.plan.description.model.clone();
        match &update.what {
            Happening::TestStarted { name: test, attempt } => {
                let (test, attempt) = (test.clone(), attempt_of(*attempt));
                self.tell(&Message::TestStarted { model: name(), test, attempt });
            }
            Happening::TestSlow { name: test, seconds } => {
                let (test, seconds) = (test.clone(), *seconds);
                self.tell(&Message::TestSlow { model: name(), test, seconds });
            }
            Happening::TestRetrying { record, attempt, output } => {
                self.tell(&Message::TestRetrying {
                    model: name(),
                    record: record.clone(),
                    attempt: attempt_of(*attempt),
                    output: output.clone(),
                });
            }
            Happening::TestFinished { record, attempt, output } => {
                let package = &update.plan.gate.adapter.package;
                self.test_finished((&name(), package), record, *attempt, output);
            }
            Happening::Finished { result } => self.model_finished(result),
            Happening::Waiting { .. }
            | Happening::Started { .. }
            | Happening::Launched { .. }
            | Happening::Noted(_)
            | Happening::Died { .. } => {}
        }
    }
}

impl Stream for Messages {
    fn finish(&mut self, end: &End<'_>) {
        for result in end.results {
            self.model_finished(result);
        }
        self.tell(&Message::RunFinished {
            summary: summary::total(end.results),
            exit_code: end.code as u8,
            seconds: end.seconds,
        });
    }

    fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }
}

fn planned(plan: &ModelPlan) -> PlannedModel {
    let listed = plan.tests.iter().map(|test| &test.listed.name);
    PlannedModel {
        model: plan.description.model.clone(),
        package: plan.gate.adapter.package.clone(),
        device: plan.description.device.clone(),
        configuration: plan.description.configuration.clone(),
        planned: listed.chain(&plan.gone).cloned().collect(),
    }
}

fn obstacle(blocked: &Blocked) -> Obstacle {
    let reason = blocked.reason().to_owned();
    match blocked {
        Blocked::Device(_) => Obstacle::Device { reason },
        Blocked::Disk(_) => Obstacle::Disk { reason },
    }
}

fn attempt_of(attempt: Attempt) -> AttemptOf {
    AttemptOf { number: attempt.number, of: attempt.of }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;

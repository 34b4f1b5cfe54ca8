//! The files that runs write, for the tests of merging.

use npugate_schema::{AttemptOf, MESSAGE_SCHEMA, Message, Obstacle, PlannedModel, Record, Summary};

/// The messages of a run of one model.
#[derive(Clone)]
pub(super) struct Script {
    model: String,
    lines: Vec<String>,
}

impl Script {
    /// A run of these tests starts.
    pub(super) fn new(model: &str, planned: &[&str]) -> Self {
        Self::part(model, planned, None)
    }

    /// A part of a run of these tests starts.
    pub(super) fn part(model: &str, planned: &[&str], partition: Option<&str>) -> Self {
        let planned = PlannedModel {
            model: model.into(),
            package: format!("{model}-llama"),
            device: "emu".into(),
            configuration: "rne".into(),
            planned: planned.iter().map(ToString::to_string).collect(),
        };
        let script = Self { model: model.into(), lines: Vec::new() };
        script.tell(&Message::RunStarted {
            schema: MESSAGE_SCHEMA.into(),
            models: vec![planned],
            effort: "full".into(),
            partition: partition.map(str::to_owned),
        })
    }

    /// An attempt that is not the last has ended.
    pub(super) fn retried(self, record: &Record, output: &str) -> Self {
        let (model, record, output) = (self.model.clone(), record.clone(), output.to_owned());
        let attempt = AttemptOf { number: 1, of: 2 };
        self.tell(&Message::TestRetrying { model, record, attempt, output })
    }

    /// A test has a verdict.
    pub(super) fn ended(self, record: &Record, output: &str) -> Self {
        let model = self.model.clone();
        self.tell(&Message::TestFinished {
            package: format!("{model}-llama"),
            model,
            record: record.clone(),
            attempt: AttemptOf { number: 1, of: 1 },
            output: output.to_owned(),
            rerun: Some(format!("again {}", record.name)),
        })
    }

    /// The model has ended.
    pub(super) fn finished(self, seconds: f64, troubles: &[&str]) -> Self {
        let model = self.model.clone();
        let troubles = troubles.iter().map(ToString::to_string).collect();
        let package = format!("{model}-llama");
        self.tell(&Message::ModelFinished { model, package, troubles, blocked: None, seconds })
    }

    /// The model could not get its device.
    pub(super) fn blocked(self, reason: &str) -> Self {
        let (model, package) = (self.model.clone(), format!("{}-llama", self.model));
        let blocked = Some(Obstacle::Device { reason: reason.into() });
        let (troubles, seconds) = (Vec::new(), 0.5);
        self.tell(&Message::ModelFinished { model, package, troubles, blocked, seconds })
    }

    /// The run has ended with this exit code.
    pub(super) fn exits(self, exit_code: u8) -> String {
        let summary = Summary::default();
        self.tell(&Message::RunFinished { summary, exit_code, seconds: 2.0 }).text()
    }

    /// The file so far.
    pub(super) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Its last line.
    pub(super) fn last(&self) -> &str {
        self.lines.last().unwrap()
    }

    fn tell(mut self, message: &Message) -> Self {
        self.lines.push(serde_json::to_string(message).unwrap());
        self
    }
}

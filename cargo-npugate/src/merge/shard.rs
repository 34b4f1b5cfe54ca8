//! The results of one run, read from its messages.

use super::MergeError;
use crate::files::FileError;
use crate::runner::{Blocked, Tried};
use crate::selection::Effort;
use fs_err as fs;
use npugate_schema::{MESSAGE_SCHEMA, Message, Obstacle, PlannedModel, Record};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The results of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Shard {
    /// Its file.
    pub path: PathBuf,
    /// How much of each shape its kernel tests covered.
    pub effort: Effort,
    /// The part of a run that it is; `None` for a whole run.
    pub partition: Option<String>,
    /// Its models, in order.
    pub models: Vec<ShardModel>,
    /// How it ended; `None` if it was cut short.
    pub end: Option<End>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct End {
    /// The exit code of the command.
    pub code: u8,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// A model of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct ShardModel {
    /// The planned tests.
    pub planned: PlannedModel,
    /// The records that were written, by test.
    pub records: BTreeMap<String, Record>,
    /// Attempts before the last, by test.
    pub earlier: BTreeMap<String, Vec<Tried>>,
    /// What tests printed, by test.
    pub outputs: BTreeMap<String, String>,
    /// The command line that runs a test again, by test.
    pub reruns: BTreeMap<String, String>,
    /// What is wrong with the gate itself.
    pub troubles: Vec<String>,
    /// What kept it from running, or from running to its end.
    pub blocked: Option<Blocked>,
    /// Wall-clock seconds; `None` if the run was cut short.
    pub seconds: Option<f64>,
}

impl Shard {
    /// Reads a file that a run wrote.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or contains anything else.
    pub fn read(path: &Path) -> Result<Self, MergeError> {
        let text = fs::read_to_string(path)
            .map_err(|source| FileError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// A whole run without results yet.
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        let (path, effort) = (path.into(), Effort::Full);
        Self { path, effort, partition: None, models: Vec::new(), end: None }
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, MergeError> {
        let mut shard = Self::new(path);
        let mut lines = (1..).zip(text.split_inclusive('\n'));
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        shard.begin(first)?;
        for (number, line) in lines {
            let failed = |reason| MergeError::Line { path: path.to_owned(), line: number, reason };
            match serde_json::from_str(line) {
                Ok(message) => shard.take_in(message).map_err(failed)?,
                // The run was killed while it wrote the line.
                Err(_) if !line.ends_with('\n') => break,
                Err(error) => return Err(failed(error.to_string())),
            }
        }
        Ok(shard)
    }

    fn begin(&mut self, line: &str) -> Result<(), MergeError> {
        let path = || self.path.clone();
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let schema = value["schema"].as_str().filter(|_| value["message"] == "run_started");
        match schema {
            Some(MESSAGE_SCHEMA) => {}
            Some(found) => {
                return Err(MergeError::Schema { path: path(), found: found.to_owned() });
            }
            None => return Err(MergeError::NoRun { path: path() }),
        }
        let failed = |reason| MergeError::Line { path: path(), line: 1, reason };
        let message = serde_json::from_value(value).map_err(|error| failed(error.to_string()))?;
        if let Message::RunStarted { models, effort, partition, .. } = message {
            self.effort = [Effort::Full, Effort::Smoke]
                .into_iter()
                .find(|known| known.as_str() == effort)
                .ok_or_else(|| failed(format!("`{effort}` is neither `full` nor `smoke`")))?;
            self.partition = partition;
            self.models = models.into_iter().map(ShardModel::new).collect();
        }
        Ok(())
    }

    fn take_in(&mut self, message: Message) -> Result<(), String> {
        match message {
            Message::RunStarted { .. } => return Err("a run starts inside another run".into()),
            Message::TestRetrying { model, record, output, .. } => {
                let earlier = &mut self.model(&model)?.earlier;
                let attempts = earlier.entry(record.name.clone()).or_default();
                attempts.push(Tried { record, output });
            }
            Message::TestFinished { model, record, output, rerun, .. } => {
                let model = self.model(&model)?;
                let name = &record.name;
                if !output.is_empty() {
                    model.outputs.insert(name.clone(), output);
                }
                model.reruns.extend(rerun.map(|line| (name.clone(), line)));
                model.records.insert(name.clone(), record);
            }
            Message::ModelFinished { model, troubles, blocked, seconds, .. } => {
                let model = self.model(&model)?;
                model.blocked = blocked.and_then(blocked_by);
                model.troubles = troubles;
                model.seconds = Some(seconds);
            }
            Message::RunFinished { exit_code, seconds, .. } => {
                self.end = Some(End { code: exit_code, seconds });
            }
            // These have no effect on the results of a run.
            _ => {}
        }
        Ok(())
    }

    fn model(&mut self, name: &str) -> Result<&mut ShardModel, String> {
        let model = self.models.iter_mut().find(|model| model.planned.model == name);
        model.ok_or_else(|| format!("its model `{name}` is not part of the run"))
    }
}

fn blocked_by(obstacle: Obstacle) -> Option<Blocked> {
    match obstacle {
        Obstacle::Device { reason } => Some(Blocked::Device(reason)),
        Obstacle::Disk { reason } => Some(Blocked::Disk(reason)),
        _ => None,
    }
}

impl ShardModel {
    /// A model without results yet.
    pub(super) fn new(planned: PlannedModel) -> Self {
        Self {
            planned,
            records: BTreeMap::new(),
            earlier: BTreeMap::new(),
            outputs: BTreeMap::new(),
            reruns: BTreeMap::new(),
            troubles: Vec::new(),
            blocked: None,
            seconds: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::testing::Script;
    use npugate_schema::Outcome;

    fn parse(text: &str) -> Result<Shard, String> {
        Shard::parse(Path::new("a.jsonl"), text).map_err(|error| error.to_string())
    }

    fn script() -> Script {
        Script::new("tiny", &["kernel::a", "kernel::b"])
    }

    #[test]
    fn a_run_reads_back_with_its_attempts_outputs_and_end() {
        let failed = Record::new("kernel::a", Outcome::Failed, "no");
        let text = script()
            .retried(&failed, "first\n")
            .ended(&failed, "second\n")
            .finished(0.5, &["it died"])
            .exits(100);
        let shard = parse(&text).unwrap();
        let model = &shard.models[0];
        assert_eq!(model.records["kernel::a"], failed);
        assert_eq!(model.earlier["kernel::a"][0].output, "first\n");
        assert_eq!(model.outputs["kernel::a"], "second\n");
        assert_eq!(model.reruns["kernel::a"], "again kernel::a");
        assert_eq!(
            (model.troubles.as_slice(), model.seconds),
            (&["it died".into()][..], Some(0.5))
        );
        assert_eq!(shard.end.unwrap().code, 100);
    }

    #[test]
    fn a_run_that_was_killed_while_it_wrote_is_read_up_to_that_line() {
        let passed = Record::new("kernel::a", Outcome::Passed, "fine");
        let text = script().ended(&passed, "").text();
        let shard = parse(&(text + r#"{"message":"test_fini"#)).unwrap();
        assert_eq!((shard.models[0].records.len(), shard.end), (1, None));
    }

    #[test]
    fn an_old_file_whose_records_do_not_say_why_a_test_did_not_run_is_read() {
        let text = script().text()
            + r#"{"message":"test_finished","model":"tiny","package":"tiny-llama","record":{"name":"kernel::a","outcome":{"kind":"skipped","reason":"interrupted"},"verdict":"interrupted","metrics":[],"seconds":0.0},"attempt":{"number":1,"of":1}}
"#;
        let record = &parse(&text).unwrap().models[0].records["kernel::a"];
        assert_eq!((record.outcome.reason(), record.not_run), (Some("interrupted"), None));
    }

    #[test]
    fn a_file_in_another_format_is_refused() {
        let text = script().text().replace("npugate-messages/1", "npugate-messages/2");
        assert_eq!(
            parse(&text).unwrap_err(),
            "a.jsonl is in the format `npugate-messages/2`, but this command reads `npugate-messages/1`: merge with the cargo-npugate that wrote it"
        );
        for text in ["", "\n", "<xml/>", "{\"event\":\"run_started\",\"schema\":\"x\"}\n"] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with("a.jsonl is not the results of a run: "), "{text}: {error}");
        }
    }

    #[test]
    fn a_line_that_is_not_a_message_is_pointed_at() {
        let error = parse(&(script().text() + "garbage\n")).unwrap_err();
        assert!(error.starts_with("a.jsonl:2 is not a message: expected value"), "{error}");
        let twice = script().text() + &script().text();
        assert!(
            parse(&twice)
                .unwrap_err()
                .ends_with(":2 is not a message: a run starts inside another run")
        );
        let other = script().text() + Script::new("big", &[]).finished(1.0, &[]).last();
        assert!(parse(&other).unwrap_err().contains("its model `big` is not part of the run"));
        let effort = script().text().replace("\"full\"", "\"some\"");
        assert!(parse(&effort).unwrap_err().contains(":1 is not a message: `some` is neither"));
    }
}

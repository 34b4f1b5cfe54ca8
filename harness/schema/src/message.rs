//! What `cargo npugate` reports about a run to other programs: JSON lines, one message a
//! line, on stdout with `--message-format json` and in the file of `--results`. They
//! contain enough to report the run elsewhere, as `cargo npugate merge` does.

use crate::{Record, Summary};
use serde::{Deserialize, Serialize};

/// Version of the messages.
pub const MESSAGE_SCHEMA: &str = "npugate-messages/1";

/// One message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "message", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// The run begins. Always the first message.
    RunStarted {
        /// [`MESSAGE_SCHEMA`].
        #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = MESSAGE_SCHEMA)))]
        schema: String,
        /// The models, in the order of the run.
        models: Vec<PlannedModel>,
        /// `full`, or `smoke` for a run on few rows, which is not a gate.
        effort: String,
        /// The part of the tests that this run is, such as `hash:2/4`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partition: Option<String>,
    },
    /// An attempt at a test begins.
    TestStarted {
        /// The model.
        model: String,
        /// The test.
        test: String,
        /// Which attempt.
        attempt: AttemptOf,
    },
    /// A test takes longer than it should.
    TestSlow {
        /// The model.
        model: String,
        /// The test.
        test: String,
        /// How long it has been running.
        seconds: f64,
    },
    /// An attempt at a test did not pass; there will be another one.
    TestRetrying {
        /// The model.
        model: String,
        /// What the attempt left behind.
        record: Record,
        /// Which attempt.
        attempt: AttemptOf,
        /// The end of what it printed.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
    },
    /// A test has its verdict. Tests that did not run are included.
    TestFinished {
        /// The model.
        model: String,
        /// Its package.
        package: String,
        /// What the last attempt left behind.
        record: Record,
        /// Which attempt that was.
        attempt: AttemptOf,
        /// The end of what it printed, if the verdict is not good.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// A command line that runs the test again in the same way; none for a test that
        /// the adapter no longer has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rerun: Option<String>,
    },
    /// Every test of a model has its verdict.
    ModelFinished {
        /// The model.
        model: String,
        /// Its package.
        package: String,
        /// What is wrong with the gate itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        troubles: Vec<String>,
        /// What kept it from running, or from running to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blocked: Option<Obstacle>,
        /// Wall-clock seconds.
        seconds: f64,
    },
    /// The run is over. Always the last message; a file without it is from a run that was
    /// cut short.
    RunFinished {
        /// The counts.
        summary: Summary,
        /// The exit code of the command.
        exit_code: u8,
        /// Wall-clock seconds.
        seconds: f64,
    },
}

/// What prevents a model from running, regardless of its tests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Obstacle {
    /// Its device is not available.
    Device {
        /// Why not.
        reason: String,
    },
    /// Its gate could not write a file.
    Disk {
        /// Why not.
        reason: String,
    },
}

/// A model of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct PlannedModel {
    /// The model.
    pub model: String,
    /// Its package.
    pub package: String,
    /// The device class.
    pub device: String,
    /// What runs where, in one line.
    pub configuration: String,
    /// The tests that get a verdict, in the order of the listing, including those that are
    /// off and those that the adapter no longer has.
    pub planned: Vec<String>,
}

/// Which attempt at a test, and how many there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct AttemptOf {
    /// The number of the attempt, from 1 up.
    pub number: u32,
    /// How many attempts there may be.
    pub of: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Metric, Outcome, Unit};

    #[test]
    fn a_message_is_one_line_that_reads_back() {
        let metric = Metric::new("max_abs", f64::INFINITY, Unit::Absolute, Direction::Lower);
        let message = Message::TestFinished {
            model: "tiny".into(),
            package: "tiny-llama".into(),
            record: Record::new("kernel::a", Outcome::Failed, "inf").measured(vec![metric]),
            attempt: AttemptOf { number: 2, of: 3 },
            output: "two\nlines".into(),
            rerun: Some("cargo npugate".into()),
        };
        let line = serde_json::to_string(&message).unwrap();
        assert!(line.starts_with(r#"{"message":"test_finished","model":"tiny","#), "{line}");
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(serde_json::from_str::<Message>(&line).unwrap(), message);
    }

    #[test]
    fn missing_values_are_not_written() {
        let message = Message::RunStarted {
            schema: MESSAGE_SCHEMA.into(),
            models: Vec::new(),
            effort: "full".into(),
            partition: None,
        };
        assert_eq!(
            serde_json::to_string(&message).unwrap(),
            r#"{"message":"run_started","schema":"npugate-messages/1","models":[],"effort":"full"}"#
        );
    }

    #[test]
    fn a_message_of_another_kind_is_refused() {
        assert!(serde_json::from_str::<Message>(r#"{"message":"run_paused"}"#).is_err());
    }
}

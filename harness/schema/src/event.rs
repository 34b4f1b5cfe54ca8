//! The event stream of a test binary: JSON lines, one event a line, appended to
//! the file that the environment variable [`EVENTS_VAR`] names.

use crate::{DeviceUsage, Record, Summary};
use serde::{Deserialize, Serialize};

/// Version of the event stream.
pub const EVENT_SCHEMA: &str = "npugate-events/1";

/// The environment variable that names the file to append events to.
pub const EVENTS_VAR: &str = "NPUGATE_EVENTS";

/// One event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The binary begins to run tests.
    RunStarted {
        /// [`EVENT_SCHEMA`].
        #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = EVENT_SCHEMA)))]
        schema: String,
        /// The adapter's name.
        model: String,
        /// The device class: `emu`, or `emu+toolchain=npu2-2026-06`.
        device: String,
        /// What runs where, in one line for the summary.
        configuration: String,
        /// How many tests will run.
        planned: usize,
    },
    /// A test begins. Written before the test runs, so that a crash or a hang can be
    /// attributed to it.
    TestStarted {
        /// The test.
        name: String,
    },
    /// A test ended.
    TestFinished {
        /// Its record.
        record: Record,
    },
    /// The binary ran all of its tests.
    RunFinished {
        /// The counts.
        summary: Summary,
        /// Wall-clock seconds.
        seconds: f64,
    },
    /// `--generate` ended: the figures of one inference.
    Generated {
        /// The text, the prompt not included.
        text: String,
        /// Tokens in the prompt.
        prompt_tokens: usize,
        /// Tokens generated.
        tokens: usize,
        /// Milliseconds from the prompt to the first token.
        time_to_first_token_ms: f64,
        /// Tokens per second after the first one.
        tokens_per_second: f64,
        /// What the inference asked of its device.
        #[serde(default)]
        usage: DeviceUsage,
    },
}

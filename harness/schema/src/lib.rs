//! The file formats that the `npugate` harness and the `cargo npugate` command share:
//! events, records, listings, golden manifests and baselines, and the messages of the
//! command to other programs.
//!
//! The harness writes, the command reads (and the other way round for
//! baselines), so every type here round-trips through JSON. Nothing in this
//! crate knows about any model, kernel or device.
#![forbid(unsafe_code)]

mod atomic;
mod attribute;
mod availability;
mod baseline;
mod cache;
mod check;
mod cliff;
mod description;
mod device_lock;
mod device_report;
mod device_usage;
mod digits;
mod doctor;
mod duration;
mod event;
mod exit_code;
mod hash;
#[cfg(any(test, feature = "json-schema"))]
mod json_schema;
mod known_failures;
mod launch;
mod listing;
mod manifest;
mod mark;
mod message;
mod metric;
mod nearest;
mod not_run;
mod number;
mod outcome;
mod phase;
mod record;
mod regression;
mod time_limits;

pub use atomic::write_atomically;
pub use attribute::{Attribute, Attributes};
pub use availability::{Access, Availability, BaselineUse};
pub use baseline::{
    BASELINE_SCHEMA, Baseline, BaselineError, Value as BaselineValue, pending_path,
};
pub use cache::{WEIGHTS_DIR_VAR, cache_folder, weights_candidates, weights_destination};
pub use check::{CheckId, Explanation, Pattern, Section, UnknownCheck};
pub use cliff::{CLIFF, cliffs};
pub use description::{
    CheckDescription, Description, WeightsFile, WeightsSource, WeightsSourceError,
};
pub use device_lock::{
    DEVICE_LOCK, DEVICE_LOCK_DEADLINE, DeviceLock, Holder, LOCK_HELD_VAR, LOCK_VAR, LockError,
};
pub use device_report::{DEVICE_REPORT_SCHEMA, DeviceReport, NpuReport};
pub use device_usage::DeviceUsage;
pub use digits::{format_number, significant};
pub use doctor::{EXAMINATION_SCHEMA, Examination, Examined, Health};
pub use duration::{DurationError, format_duration, parse_duration};
pub use event::{EVENT_SCHEMA, EVENTS_VAR, Event};
pub use exit_code::ExitCode;
pub use hash::{Sha256, Sha256Error};
#[cfg(any(test, feature = "json-schema"))]
pub use json_schema::json_schemas;
pub use known_failures::{KNOWN_FAILURES_SCHEMA, KnownFailure, KnownFailures, KnownFailuresError};
pub use launch::LaunchDescription;
pub use listing::{Ignore, LISTING_SCHEMA, ListedTest, Listing};
pub use manifest::{
    GOLDEN_SCHEMA, GoldenFile, Manifest, ModelConfig, Noise, Prompt, Reference, ReferenceDtypes,
    WeightsProvenance,
};
pub use mark::{MARK, MARKS_VAR, Mark};
pub use message::{AttemptOf, MESSAGE_SCHEMA, Message, Obstacle, PlannedModel};
pub use metric::{Direction, Metric, Unit};
pub use not_run::NotRun;
pub use outcome::{FlakyResult, Outcome};
pub use phase::{Phase, UnknownPhase};
pub use record::{Record, Summary};

pub use regression::{Comparison, Finding, Standing};
pub use time_limits::TimeLimits;

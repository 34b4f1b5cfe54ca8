//! The result of a model's run.

use super::NoVerdict;
use npugate_schema::{Description, ExitCode, Record};
use std::collections::BTreeMap;

/// The result of a model's run.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelResult {
    /// What the gate reports about itself.
    pub description: Description,
    /// The package, for `-p`.
    pub package: String,
    /// One record for each listed test, in the listing's order, and for each test that is
    /// gone.
    pub records: Vec<Record>,
    /// Attempts before the last, in order, by test.
    pub earlier: BTreeMap<String, Vec<Tried>>,
    /// The end of the output of the last attempt at each test that did not pass, by test.
    pub outputs: BTreeMap<String, String>,
    /// What is wrong with the gate itself.
    pub troubles: Vec<String>,
    /// What kept it from running, or from running to its end.
    pub blocked: Option<Blocked>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// What keeps a model from running, whatever its tests are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// Its device was not available.
    Device(String),
    /// Its gate could not write its events, usually because the disk is full.
    Disk(String),
}

impl From<Blocked> for NoVerdict {
    /// Why the remaining tests of a blocked model have no verdict.
    fn from(blocked: Blocked) -> Self {
        match blocked {
            Blocked::Device(reason) => Self::NoDevice(reason),
            Blocked::Disk(reason) => Self::CannotWrite(reason),
        }
    }
}

impl Blocked {
    /// The reason, as a sentence.
    pub fn reason(&self) -> &str {
        match self {
            Self::Device(reason) | Self::Disk(reason) => reason,
        }
    }

    /// The exit code of a run with a blocked model, if nothing is worse.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Device(_) => ExitCode::DeviceUnavailable,
            Self::Disk(_) => ExitCode::WriteFailed,
        }
    }
}

/// An attempt at a test that did not pass and was not the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Its record.
    pub record: Record,
    /// The end of its output.
    pub output: String,
}

impl ModelResult {
    /// A result without any records yet.
    pub fn new(description: Description, package: impl Into<String>) -> Self {
        Self {
            description,
            package: package.into(),
            records: Vec::new(),
            earlier: BTreeMap::new(),
            outputs: BTreeMap::new(),
            troubles: Vec::new(),
            blocked: None,
            seconds: 0.0,
        }
    }
}

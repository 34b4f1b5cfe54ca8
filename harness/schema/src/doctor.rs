//! What `cargo npugate doctor --json` prints: each thing that was looked at, what was
//! found, and what to do about it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the examination.
pub const EXAMINATION_SCHEMA: &str = "npugate-doctor/1";

/// What was found out about a device and what it needs on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Examination {
    /// [`EXAMINATION_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = EXAMINATION_SCHEMA)))]
    pub schema: String,
    /// The device, as `--device` has it.
    pub device: String,
    /// What was looked at, what others stand on first.
    pub checks: Vec<Examined>,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Examined {
    /// Its stable name: `memlock`.
    pub check: String,
    /// What it is about, in one line.
    pub title: String,
    /// How it is.
    pub health: Health,
    /// What was found, in a sentence.
    pub finding: String,
    /// What that was seen in: values, files, lines of the kernel's log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What to do, if there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Where this is known from: `repository#number` of public issues, documents.
    pub sources: Vec<String>,
}

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// The device runs, but not as well as it could, or not for everything.
    Warning,
    /// The device does not run, or does not run what npugate makes.
    Problem,
    /// It could not be found out.
    Unknown,
    /// It does not matter here: what it is about is not there.
    NotApplicable,
}

impl Health {
    /// As it is printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Unknown => "unknown",
            Self::NotApplicable => "not applicable",
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Examination {
    /// How many things are in this state.
    pub fn count(&self, health: Health) -> usize {
        self.checks.iter().filter(|examined| examined.health == health).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_examination_is_written_with_what_there_is() {
        let examination = Examination {
            schema: EXAMINATION_SCHEMA.into(),
            device: "xrt".into(),
            checks: vec![Examined {
                check: "power".into(),
                title: "Power mode".into(),
                health: Health::NotApplicable,
                finding: "there is no NPU".into(),
                evidence: Vec::new(),
                fix: None,
                sources: vec!["amd/xdna-driver#307".into()],
            }],
        };
        let text = r#"{"schema":"npugate-doctor/1","device":"xrt","checks":[{"check":"power","title":"Power mode","health":"not_applicable","finding":"there is no NPU","sources":["amd/xdna-driver#307"]}]}"#;
        assert_eq!(serde_json::to_string(&examination).unwrap(), text);
        assert_eq!(serde_json::from_str::<Examination>(text).unwrap(), examination);
        assert_eq!(examination.count(Health::NotApplicable), 1);
    }
}

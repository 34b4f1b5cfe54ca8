//! What `cargo npugate doctor --json` prints: each thing that was examined, what was
//! found, and what to do about it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the examination.
pub const EXAMINATION_SCHEMA: &str = "npugate-doctor/1";

/// What was found out about a device and about what it needs on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Examination {
    /// [`EXAMINATION_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = EXAMINATION_SCHEMA)))]
    pub schema: String,
    /// The device, as named in `--device`.
    pub device: String,
    /// What was examined; things that others depend on come first.
    pub checks: Vec<Examined>,
}

/// One thing that was examined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Examined {
    /// Its stable name: `memlock`.
    pub check: String,
    /// What it is about, in one line.
    pub title: String,
    /// The state that it is in.
    pub health: Health,
    /// What was found, in a sentence.
    pub finding: String,
    /// The evidence for it: values, files, lines of the kernel's log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What to do, if there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The sources for it: documents, and public issues as `repository#number`.
    pub sources: Vec<String>,
}

/// The state of something that was examined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// The device runs, but not as well as it could, or not for everything.
    Warning,
    /// The device does not run, or does not run npugate's programs.
    Problem,
    /// The state could not be determined.
    Unknown,
    /// It does not apply to this machine.
    NotApplicable,
}

impl Health {
    /// The word that is printed.
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

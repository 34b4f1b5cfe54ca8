//! The environment variables, which are read once, at the start.

use crate::doctor::SYSTEM_ROOT_VAR;
use npugate_schema::{LOCK_HELD_VAR, LOCK_VAR};
use std::{ffi::OsString, path::PathBuf};

/// The settings of the environment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    /// `$CARGO`: the cargo that called this program, or none.
    pub cargo: Option<OsString>,
    /// `$NPUGATE_PYTHON`: the Python interpreter to use, or none.
    pub python: Option<OsString>,
    /// `$NPUGATE_FIXTURES`: where goldens and baselines are kept in place of the adapters'
    /// own folders, or none.
    pub fixtures: Option<PathBuf>,
    /// `$NPUGATE_UPDATE`: what to do with baseline changes.
    pub update: Update,
    /// `$NPUGATE_PROFILE`: the profile, or none.
    pub profile: Option<String>,
    /// `$NPUGATE_CONFIG`: the configuration, or none.
    pub config: Option<PathBuf>,
    /// Who has the lock on the NPU.
    pub lock: Held,
    /// `$NPUGATE_LOCK`: the file of that lock, or none.
    pub lock_path: Option<PathBuf>,
    /// `$NPUGATE_SYSTEM_ROOT`: a tree in place of this machine's files, or none. For
    /// tests of `doctor` and `device`.
    pub system_root: Option<PathBuf>,
    /// `$GITHUB_ACTIONS`: set if this is a step of a workflow on GitHub.
    pub github: Option<GitHub>,
}

/// A variable with a value that it cannot have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EnvironmentError {
    #[error("NPUGATE_UPDATE is `{0}`, but it must be `new`, `no` or `always`")]
    Update(String),
}

/// A step of a workflow on GitHub.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitHub {
    /// `$GITHUB_STEP_SUMMARY`: the file of the step's summary.
    pub step_summary: Option<PathBuf>,
}

/// Who has the lock on the NPU when this program starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Held {
    /// Nobody, as far as is known.
    #[default]
    ByNobody,
    /// The caller: `$NPUGATE_LOCK_HELD` says so.
    ByCaller,
}

/// What to do with baseline changes after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Update {
    /// Write them beside the baseline, for review.
    #[default]
    New,
    /// Write nothing.
    No,
    /// Write the baseline itself.
    Always,
}

impl Environment {
    /// Reads the variables through `variable`; an empty one counts as unset.
    ///
    /// # Errors
    ///
    /// `NPUGATE_UPDATE` has a value that it cannot have.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, EnvironmentError> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let update = match variable("NPUGATE_UPDATE") {
            Some(value) => match value.to_str() {
                Some("new") => Update::New,
                Some("no") => Update::No,
                Some("always") => Update::Always,
                _ => {
                    let value = value.to_string_lossy().into_owned();
                    return Err(EnvironmentError::Update(value));
                }
            },
            None if variable("CI").is_some_and(|value| is_true(&value.to_string_lossy())) => {
                Update::No
            }
            None => Update::New,
        };
        Ok(Self {
            cargo: variable("CARGO"),
            python: variable("NPUGATE_PYTHON"),
            fixtures: variable("NPUGATE_FIXTURES").map(PathBuf::from),
            update,
            profile: variable("NPUGATE_PROFILE").map(|name| name.to_string_lossy().into_owned()),
            config: variable("NPUGATE_CONFIG").map(PathBuf::from),
            lock_path: variable(LOCK_VAR).map(PathBuf::from),
            system_root: variable(SYSTEM_ROOT_VAR).map(PathBuf::from),
            lock: match variable(LOCK_HELD_VAR) {
                Some(value) if is_true(&value.to_string_lossy()) => Held::ByCaller,
                _ => Held::ByNobody,
            },
            github: variable("GITHUB_ACTIONS").filter(|value| value == "true").map(|_| GitHub {
                step_summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            }),
        })
    }

    /// The cargo to run.
    pub fn cargo(&self) -> OsString {
        self.cargo.clone().unwrap_or_else(|| "cargo".into())
    }

    /// The Python to run.
    pub fn python(&self) -> OsString {
        self.python.clone().unwrap_or_else(|| "python3".into())
    }
}

fn is_true(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment, EnvironmentError> {
        Environment::read(|name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    fn update(variables: &[(&str, &str)]) -> Result<Update, EnvironmentError> {
        read(variables).map(|environment| environment.update)
    }

    #[test]
    fn nothing_is_written_on_ci_unless_asked() {
        assert_eq!(update(&[]).unwrap(), Update::New);
        assert_eq!(update(&[("CI", "true")]).unwrap(), Update::No);
        assert_eq!(update(&[("CI", "1")]).unwrap(), Update::No);
        assert_eq!(update(&[("CI", "false")]).unwrap(), Update::New);
        assert_eq!(update(&[("CI", "")]).unwrap(), Update::New);
        assert_eq!(update(&[("CI", "true"), ("NPUGATE_UPDATE", "new")]).unwrap(), Update::New);
    }

    #[test]
    fn a_mistyped_mode_is_an_error() {
        let error = update(&[("NPUGATE_UPDATE", "alway")]).unwrap_err().to_string();
        assert_eq!(error, "NPUGATE_UPDATE is `alway`, but it must be `new`, `no` or `always`");
    }

    #[test]
    fn github_is_recognised_by_its_variable() {
        let summary = ("GITHUB_STEP_SUMMARY", "/tmp/summary.md");
        let github = |variables: &[(&str, &str)]| read(variables).unwrap().github;
        assert_eq!(github(&[summary]), None);
        assert_eq!(github(&[("GITHUB_ACTIONS", "false"), summary]), None);
        let step_summary = Some("/tmp/summary.md".into());
        assert_eq!(github(&[("GITHUB_ACTIONS", "true"), summary]), Some(GitHub { step_summary }));
        let none = Some(GitHub { step_summary: None });
        assert_eq!(github(&[("GITHUB_ACTIONS", "true")]), none);
    }
}

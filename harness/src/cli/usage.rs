//! A command line or a variable that is not valid, in one sentence.

use crate::SettingsError;
use clap::error::{ContextKind, ErrorKind};
use std::error::Error;

const JUNIT: &str = "JUnit is written by `cargo npugate --junit PATH` and by cargo nextest";

/// Arguments or variables that are not valid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum UsageError {
    #[error(
        "unknown flag `{0}`: `--help` lists the flags, and `--` comes before filters that begin with a dash"
    )]
    UnknownFlag(String),
    #[error("unknown flag `{flag}`: did you mean `{similar}`?")]
    MistypedFlag { flag: String, similar: String },
    #[error("`{flag}` needs a value: write `{usage}`")]
    MissingValue { flag: String, usage: String },
    #[error("`{0}` takes no value")]
    UnexpectedValue(String),
    #[error("`{flag}` cannot be `{value}`: {reason}")]
    Value { flag: String, value: String, reason: String },
    #[error("`{0}` and `{1}` cannot be used together")]
    Conflict(String, String),
    #[error("argument `{0}` is not UTF-8, as every test name is")]
    NotUtf8(String),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// What clap says in its first line.
    #[error("{0}")]
    Other(String),
}

impl From<clap::Error> for UsageError {
    fn from(error: clap::Error) -> Self {
        let context = |kind| error.get(kind).map(ToString::to_string);
        // `--skip TEXT`, of which clap makes `--skip <TEXT>`.
        let usage = context(ContextKind::InvalidArg).unwrap_or_default().replace(['<', '>'], "");
        let flag = name(&usage);
        let value = context(ContextKind::InvalidValue).unwrap_or_default();
        match error.kind() {
            ErrorKind::UnknownArgument => match context(ContextKind::SuggestedArg) {
                Some(similar) => Self::MistypedFlag { flag, similar },
                None => Self::UnknownFlag(flag),
            },
            ErrorKind::InvalidValue if value.is_empty() => Self::MissingValue { flag, usage },
            ErrorKind::InvalidValue => {
                let reason = if flag == "--format" && value == "junit" {
                    JUNIT.to_owned()
                } else {
                    let words = context(ContextKind::ValidValue).unwrap_or_default();
                    format!("it must be one of {words}")
                };
                Self::Value { flag, value, reason }
            }
            ErrorKind::ValueValidation => {
                let reason = error.source().map(ToString::to_string).unwrap_or_default();
                Self::Value { flag, value, reason }
            }
            ErrorKind::TooManyValues => Self::UnexpectedValue(flag),
            ErrorKind::ArgumentConflict => {
                Self::Conflict(flag, name(&context(ContextKind::PriorArg).unwrap_or_default()))
            }
            _ => {
                let text = error.render().to_string();
                let line = text.lines().next().unwrap_or_default();
                Self::Other(line.strip_prefix("error: ").unwrap_or(line).to_owned())
            }
        }
    }
}

/// The flag alone: `--skip` of `--skip TEXT`.
fn name(usage: &str) -> String {
    usage.split(' ').next().unwrap_or_default().to_owned()
}

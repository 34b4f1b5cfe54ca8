//! Why the program ends without running what it was asked to.

use crate::schema::{ExitCode, LockError};
use crate::{RunError, SettingsError, SuiteError};
use std::{io, path::Path};

/// What a gate binary returns when a test fails: libtest's own code.
pub(super) const TEST_FAILED: ExitCode = ExitCode::BuildFailed;

/// Arguments or variables that make no sense.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum UsageError {
    #[error(
        "unknown flag `{0}`: `--help` lists the flags, and `--` comes before filters that begin with a dash"
    )]
    UnknownFlag(String),
    #[error("`{flag}` needs a value: write `{flag} {value}`")]
    MissingValue { flag: String, value: &'static str },
    #[error("`{0}` takes no value")]
    UnexpectedValue(String),
    #[error("`{flag}` cannot be `{value}`: {reason}")]
    Value { flag: String, value: String, reason: String },
    #[error("`{0}` and `{1}` exclude each other")]
    Conflict(&'static str, &'static str),
    #[error("argument `{0}` is not UTF-8, as every test name is")]
    NotUtf8(String),
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// Why the program ends without running what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error("no test is named `{0}`: `--list` shows the names")]
    NoSuchTest(String),
    #[error("test `{0}` exists, but the other arguments leave it out")]
    LeftOut(String),
    #[error("{0} has no model to generate with, only kernels")]
    NoModel(String),
    #[error("the prompt has no tokens: give `--generate` some text")]
    EmptyPrompt,
    #[error("the logits after {0} tokens are not all numbers, so there is no next token")]
    NoNextToken(usize),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{what} cannot be written: {source}")]
    Write { what: String, source: io::Error },
}

impl CliError {
    pub fn stdout(source: io::Error) -> Self {
        Self::Write { what: "standard output".to_owned(), source }
    }

    pub fn file(path: &Path, source: io::Error) -> Self {
        Self::Write { what: path.display().to_string(), source }
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Suite(_) | Self::NoModel(_) | Self::EmptyPrompt => {
                ExitCode::Usage
            }
            Self::Lock(_) => ExitCode::DeviceUnavailable,
            Self::NoSuchTest(_) | Self::LeftOut(_) => ExitCode::NoTests,
            Self::Run(error) if error.is_setup() => ExitCode::Setup,
            Self::Run(_) | Self::NoNextToken(_) => TEST_FAILED,
            Self::Write { .. } => ExitCode::WriteFailed,
        }
    }
}

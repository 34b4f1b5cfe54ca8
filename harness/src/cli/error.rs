//! Why the program ends without doing what it was asked to do.

use super::usage::UsageError;
use crate::schema::{ExitCode, LockError};
use crate::{RunError, SuiteError};
use std::{io, path::Path};

/// What a gate binary returns when a test fails: libtest's own code.
pub(super) const TEST_FAILED: ExitCode = ExitCode::BuildFailed;

/// Why the program ends without doing what it was asked to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error("no test is named `{0}`: `--list` prints the names")]
    NoSuchTest(String),
    #[error("test `{0}` exists, but the other arguments exclude it")]
    LeftOut(String),
    #[error("{0} has kernels but no model, so it cannot generate text")]
    NoModel(String),
    #[error("the prompt has no tokens: pass some text to `--generate`")]
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

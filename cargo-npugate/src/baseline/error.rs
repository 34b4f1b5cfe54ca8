//! Why the changes of a baseline cannot be saved, accepted or rejected.

use crate::files::FileError;
use npugate_schema::{BaselineError, ExitCode};

/// Why the changes of a baseline cannot be saved, accepted or rejected.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("no test with a pending change has {} in its name; `cargo npugate pending` prints the changes", quote(.0))]
    NoMatch(Vec<String>),
}

impl ChangesError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Baseline(_) => ExitCode::Setup,
            Self::File(error) => error.exit_code(),
            Self::NoMatch(_) => ExitCode::NoTests,
        }
    }
}

fn quote(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

//! What can go wrong with the files that this command reads and writes.

use npugate_schema::ExitCode;
use std::{io, path::PathBuf};

/// A file that cannot be written, read or deleted.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be deleted: {source}", path.display())]
    Delete { path: PathBuf, source: io::Error },
    #[error("stdout cannot be written: {0}")]
    Stdout(io::Error),
}

impl FileError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Write { .. } | Self::Delete { .. } | Self::Stdout(_) => ExitCode::WriteFailed,
            Self::Read { .. } => ExitCode::Setup,
        }
    }
}

//! What is wrong with the configuration, and where.

use crate::excerpt::Excerpt;
use std::{fmt, io, ops::Range};

/// What is wrong with the configuration, and where.
#[derive(Debug)]
pub enum ConfigError {
    /// A place in the file is wrong.
    Place {
        /// The file, as it is shown.
        file: String,
        /// The place.
        excerpt: Excerpt,
        /// What is wrong with it.
        message: String,
    },
    /// The file cannot be read.
    Read {
        /// The file, as it is shown.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// No profile has the requested name.
    UnknownProfile {
        /// The file, as it is shown.
        file: String,
        /// The name.
        name: String,
        /// The names that exist instead.
        hint: String,
    },
}

impl ConfigError {
    /// A place in the text of a file.
    pub fn place(file: &str, text: &str, at: &Range<usize>, message: impl Into<String>) -> Self {
        let excerpt = Excerpt::new(text, at);
        Self::Place { file: file.to_owned(), excerpt, message: message.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { file, excerpt, message } => {
                let Excerpt { line, column, .. } = excerpt;
                write!(f, "{file}:{line}:{column}: {message}\n{excerpt}")
            }
            Self::Read { file, source } => write!(f, "{file} cannot be read: {source}"),
            Self::UnknownProfile { file, name, hint } => {
                write!(f, "{file} has no profile `{name}`{hint}")
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Place { .. } | Self::UnknownProfile { .. } => None,
        }
    }
}

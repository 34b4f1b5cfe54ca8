//! Where a setting comes from.

use std::{fmt, ops::Deref, sync::Arc};

/// Where a setting comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A line of the file, in a profile.
    File { file: Arc<str>, line: usize, profile: Arc<str> },
    /// The check declares it.
    Check,
    /// The command has it built in.
    BuiltIn,
}

/// A setting and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<T> {
    /// The setting.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Found<T> {
    /// One that holds where nothing else is said.
    pub fn built_in(value: T) -> Self {
        Self { value, origin: Origin::BuiltIn }
    }
}

impl<T> Deref for Found<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, profile } => write!(f, "{file}:{line}, profile {profile}"),
            Self::Check => f.write_str("the check declares it"),
            Self::BuiltIn => f.write_str("built in"),
        }
    }
}

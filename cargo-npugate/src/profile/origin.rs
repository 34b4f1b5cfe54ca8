//! Where a setting comes from.

use std::{fmt, ops::Deref, sync::Arc};

/// Where a setting comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A line of the file, in a profile.
    File { file: Arc<str>, line: usize, profile: Arc<str> },
    /// The check declares it.
    Check,
    /// It is built into the command.
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
    /// A setting that nothing else gives.
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
            Self::Check => f.write_str("declared by the check"),
            Self::BuiltIn => f.write_str("built in"),
        }
    }
}

//! What a filter expression means: a tree of predicates.

use super::facts::Facts;
use super::predicate::Predicate;
use std::{fmt, ops::Range};

/// What an expression means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// All of these match; `all()` has no parts.
    All(Vec<Tree>),
    /// At least one of these matches; `none()` has no parts.
    Any(Vec<Tree>),
    /// This does not match.
    Not(Box<Tree>),
    /// This predicate matches.
    Predicate(Predicate, Place),
}

/// A place in an expression. It is not part of the meaning of the expression, so all places
/// are equal.
#[derive(Clone, Debug)]
pub struct Place(pub Range<usize>);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Tree {
    /// Whether a test matches.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(facts)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(facts)),
            Self::Not(part) => !part.matches(facts),
            Self::Predicate(predicate, _) => predicate.matches(facts),
        }
    }

    /// Its predicates, in the order in which they were written.
    pub fn predicates(&self) -> Vec<(&Predicate, &Place)> {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::predicates).collect()
            }
            Self::Not(part) => part.predicates(),
            Self::Predicate(predicate, at) => vec![(predicate, at)],
        }
    }

    /// The text as a part of another tree: in parentheses if it has parts itself.
    fn nested(&self) -> String {
        match self {
            Self::All(parts) | Self::Any(parts) if !parts.is_empty() => format!("({self})"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Tree {
    /// Writes an expression with this meaning, with all signs and parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Self], sign: &str| {
            parts.iter().map(Self::nested).collect::<Vec<_>>().join(sign)
        };
        match self {
            Self::All(parts) if parts.is_empty() => f.write_str("all()"),
            Self::Any(parts) if parts.is_empty() => f.write_str("none()"),
            Self::All(parts) => f.write_str(&joined(parts, " & ")),
            Self::Any(parts) => f.write_str(&joined(parts, " | ")),
            Self::Not(part) => write!(f, "!{}", part.nested()),
            Self::Predicate(predicate, _) => predicate.fmt(f),
        }
    }
}

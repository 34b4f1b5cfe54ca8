//! What a filter expression means: a tree of questions.

use super::facts::Facts;
use super::predicate::Predicate;
use std::{fmt, ops::Range};

/// What an expression means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// Each of these holds; `all()` is none of them.
    All(Vec<Tree>),
    /// One of these holds; `none()` is none of them.
    Any(Vec<Tree>),
    /// This does not hold.
    Not(Box<Tree>),
    /// This question is answered with yes.
    Predicate(Predicate, Place),
}

/// Where something stands in an expression. That is no part of what it means:
/// two places are always equal.
#[derive(Clone, Debug)]
pub struct Place(pub Range<usize>);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Tree {
    /// Whether it holds for a test.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(facts)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(facts)),
            Self::Not(part) => !part.matches(facts),
            Self::Predicate(predicate, _) => predicate.matches(facts),
        }
    }

    /// Its questions, in the order in which they were written.
    pub fn predicates(&self) -> Vec<(&Predicate, &Place)> {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::predicates).collect()
            }
            Self::Not(part) => part.predicates(),
            Self::Predicate(predicate, at) => vec![(predicate, at)],
        }
    }

    /// As a part of another: in parentheses if it has parts of its own.
    fn nested(&self) -> String {
        match self {
            Self::All(parts) | Self::Any(parts) if !parts.is_empty() => format!("({self})"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Tree {
    /// An expression that means this, with every sign and parenthesis written.
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

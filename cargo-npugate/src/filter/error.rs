//! What is wrong with a filter expression, and where in it.

use crate::excerpt::Excerpt;
use std::{fmt, ops::Range};

/// What is wrong with a filter expression, and where in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// The expression.
    pub expression: String,
    /// The range of bytes that is wrong.
    pub at: Range<usize>,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expression, at, message } = self;
        write!(f, "{message}\n{}", Excerpt::new(expression, at))
    }
}

impl std::error::Error for FilterError {}

//! The dimensions by which the registry distinguishes a kernel's rows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The dimensions of a row. They are written as in the names of rows, `2048x2048x512`.
pub(crate) trait ShapeType: Copy + Eq + fmt::Display {
    /// Reads what is written.
    fn parse(key: &str) -> Option<Self>;

    /// The dimensions, in the order in which they are written.
    fn dimensions(&self) -> Vec<usize>;

    /// Distinguishes shapes that differ in more than their dimensions, such as the kind of a mask.
    fn variant(&self) -> usize {
        0
    }
}

/// Rows, each worked on by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RowsShape {
    /// Rows.
    pub rows: usize,
    /// Elements of a row.
    pub cols: usize,
}

impl fmt::Display for RowsShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

impl ShapeType for RowsShape {
    fn parse(key: &str) -> Option<Self> {
        let (rows, cols) = key.split_once('x')?;
        Some(Self { rows: number(rows, "")?, cols: number(cols, "")? })
    }

    fn dimensions(&self) -> Vec<usize> {
        vec![self.rows, self.cols]
    }
}

/// A number of elements, each worked on by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FlatShape {
    /// Elements.
    pub n: usize,
}

impl fmt::Display for FlatShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.n)
    }
}

impl ShapeType for FlatShape {
    fn parse(key: &str) -> Option<Self> {
        Some(Self { n: number(key, "")? })
    }

    fn dimensions(&self) -> Vec<usize> {
        vec![self.n]
    }
}

/// The number after `prefix`, if the text holds nothing else.
pub(crate) fn number(s: &str, prefix: &str) -> Option<usize> {
    let digits = s.strip_prefix(prefix)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

//! Marks in the output of a gate binary, from which a reader knows which test printed what.

use std::fmt;

/// The environment variable that asks a gate for marks on standard error.
pub const MARKS_VAR: &str = "NPUGATE_MARKS";

/// How a mark begins: the record separator, which does not occur in text.
pub const MARK: &str = "\u{1e}npugate:";

/// A mark, which is a line of its own, written in one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark<'a> {
    /// A test begins.
    Begin(&'a str),
    /// A test has ended.
    End(&'a str),
}

impl<'a> Mark<'a> {
    /// Reads a line without its end.
    pub fn parse(line: &'a str) -> Option<Self> {
        let (word, name) = line.strip_prefix(MARK)?.split_once(' ')?;
        match word {
            "begin" => Some(Self::Begin(name)),
            "end" => Some(Self::End(name)),
            _ => None,
        }
    }
}

impl fmt::Display for Mark<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(name) => write!(f, "{MARK}begin {name}"),
            Self::End(name) => write!(f, "{MARK}end {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back() {
        for mark in [Mark::Begin("kernel::gemm::16x16x16"), Mark::End("a b")] {
            assert_eq!(Mark::parse(&mark.to_string()), Some(mark));
        }
        assert_eq!(Mark::parse("npugate:begin a"), None);
        assert_eq!(Mark::parse("\u{1e}npugate:middle a"), None);
    }
}

//! Marks for a caller that reads both streams of this binary through one pipe: the
//! output of a test, and of a driver during it, is between two of them.

use crate::schema::Mark;
use std::io::{self, Write};

/// Whether marks are set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Marks {
    /// The caller asked for them.
    Set,
    /// It did not, and they would only be in the way.
    #[default]
    Unset,
}

impl Marks {
    /// Sets a mark on standard error, after everything printed so far.
    pub fn set(self, mark: Mark<'_>, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
        if self == Self::Unset {
            return Ok(());
        }
        out.flush()?;
        io::stdout().flush()?;
        // In one write: a driver's threads may be writing too.
        err.write_all(format!("{mark}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_set_only_on_request() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        Marks::Unset.set(Mark::Begin("a"), &mut out, &mut err).unwrap();
        assert!(err.is_empty());
        Marks::Set.set(Mark::End("a"), &mut out, &mut err).unwrap();
        assert_eq!(err, b"\x1enpugate:end a\n");
        assert!(out.is_empty());
    }
}

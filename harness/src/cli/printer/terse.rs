//! A character for each test.

use super::{Ended, Finished, Printer, word};
use std::io::{self, Write};

/// Characters in a line, as in libtest.
const LINE: usize = 88;

#[derive(Default)]
pub(super) struct Terse {
    tests: usize,
    done: usize,
}

impl Printer for Terse {
    fn begin(&mut self, out: &mut dyn Write, tests: usize, seed: Option<u64>) -> io::Result<()> {
        self.tests = tests;
        super::print_title(out, tests, seed)
    }

    fn started(&mut self, _: &mut dyn Write, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn ended(&mut self, out: &mut dyn Write, _: &str, ended: Ended<'_>) -> io::Result<()> {
        let (style, word) = word(ended);
        let character = match word.chars().next() {
            Some('o') => '.',
            Some(first) => first,
            None => '?',
        };
        write!(out, "{style}{character}{style:#}")?;
        self.done += 1;
        if self.done.is_multiple_of(LINE) {
            writeln!(out, " {}/{}", self.done, self.tests)?;
        }
        out.flush()
    }

    fn finish(&mut self, out: &mut dyn Write, finished: Finished<'_>) -> io::Result<()> {
        if !self.done.is_multiple_of(LINE) {
            writeln!(out)?;
        }
        super::print_failures(out, finished.failures)?;
        super::print_summary(out, finished)
    }
}

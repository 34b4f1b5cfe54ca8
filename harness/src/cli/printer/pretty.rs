//! A line for each test.

use super::{Ended, Finished, Printer, Times, Verdicts, verdict, word};
use std::io::{self, Write};

pub(super) struct Pretty {
    /// Width of the longest name, so that the results are in one column.
    pub width: usize,
    pub verdicts: Verdicts,
    pub times: Times,
}

impl Printer for Pretty {
    fn begin(&mut self, out: &mut dyn Write, tests: usize, seed: Option<u64>) -> io::Result<()> {
        super::print_title(out, tests, seed)
    }

    fn started(&mut self, out: &mut dyn Write, name: &str) -> io::Result<()> {
        write!(out, "test {name:width$} ... ", width = self.width)?;
        // A test may take minutes: its name must be visible meanwhile.
        out.flush()
    }

    fn ended(&mut self, out: &mut dyn Write, _: &str, ended: Ended<'_>) -> io::Result<()> {
        let (style, word) = word(ended);
        write!(out, "{style}{word}{style:#}")?;
        if let (Ended::Ran(record), Times::Shown) = (ended, self.times) {
            write!(out, " <{:.3}s>", record.seconds)?;
        }
        writeln!(out)?;
        match (ended, self.verdicts) {
            // The verdicts of failures follow at the end.
            (Ended::Ran(record), Verdicts::All) if record.outcome.is_good() => {
                writeln!(out, "    {}", verdict(record))
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut dyn Write, finished: Finished<'_>) -> io::Result<()> {
        super::print_failures(out, finished.failures)?;
        super::print_summary(out, finished)
    }
}

//! Why a test has no verdict, and the record that says so instead.

use super::Stop;
use crate::text;
use npugate_schema::{NotRun, Outcome, Record};
use std::{fmt, num::NonZero};

/// Why a test has no verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoVerdict {
    /// The user ended the run.
    Interrupted,
    /// The run ended after this many failures.
    MaxFail(NonZero<usize>),
    /// Its device was not available, for this reason.
    NoDevice(String),
    /// Its gate could not write its events, for this reason.
    CannotWrite(String),
    /// Processes of its gate died in this many other tests.
    Crashes(usize),
    /// A process of its gate died before any test, as this reason says.
    NoStart(String),
    /// Its gate listed it, but ended successfully without running it.
    Omitted,
    /// Its baseline has it, but its adapter no longer does. If a kernel shape or a layer is
    /// dropped, its tests are dropped too, and a run without them must not look like a success.
    Gone,
}

impl NoVerdict {
    /// The record of a test without a verdict, and without figures.
    pub fn record(&self, name: impl Into<String>) -> Record {
        let reason = self.to_string();
        let (not_run, outcome) = match self {
            Self::Interrupted => (NotRun::Interrupted, skipped(&reason)),
            Self::MaxFail(_) => (NotRun::MaxFail, skipped(&reason)),
            Self::NoDevice(_) => (NotRun::NoDevice, skipped(&reason)),
            Self::CannotWrite(_) => (NotRun::CannotWrite, invalid(&reason)),
            Self::Crashes(_) | Self::NoStart(_) => (NotRun::GivenUp, invalid(&reason)),
            Self::Omitted => (NotRun::Omitted, invalid(&reason)),
            Self::Gone => (NotRun::Gone, Outcome::Regressed),
        };
        Record { not_run: Some(not_run), ..Record::new(name, outcome, reason) }
    }
}

fn skipped(reason: &str) -> Outcome {
    Outcome::Skipped { reason: reason.to_owned() }
}

fn invalid(reason: &str) -> Outcome {
    Outcome::Invalid { reason: reason.to_owned() }
}

impl fmt::Display for NoVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::MaxFail(limit) => {
                let failures = text::count(limit.get(), "test");
                write!(f, "not run: the run ended after {failures} failed")
            }
            Self::NoDevice(reason) | Self::CannotWrite(reason) | Self::NoStart(reason) => {
                f.write_str(reason)
            }
            Self::Crashes(crashes) => {
                write!(f, "not run: the process had crashed {crashes} times")
            }
            Self::Omitted => f.write_str("listed, but the gate did not run it"),
            Self::Gone => f.write_str("is in the baseline, but the adapter no longer has it"),
        }
    }
}

impl From<Stop> for NoVerdict {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Interrupted => Self::Interrupted,
            Stop::MaxFail(limit) => Self::MaxFail(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_as_text_and_by_kind_why_there_is_no_verdict() {
        let limit = NonZero::new(2).unwrap();
        let record = NoVerdict::from(Stop::MaxFail(limit)).record("a");
        assert_eq!(record.verdict, "not run: the run ended after 2 tests failed");
        assert_eq!(record.outcome.reason(), Some(&*record.verdict));
        assert_eq!(record.not_run, Some(NotRun::MaxFail));
        let gone = NoVerdict::Gone.record("a");
        assert_eq!((gone.outcome, gone.not_run), (Outcome::Regressed, Some(NotRun::Gone)));
    }

    #[test]
    fn a_run_that_ended_first_differs_from_one_that_could_not_continue() {
        let ended = |why: NoVerdict| why.record("a").not_run.unwrap().run_ended();
        assert!(ended(NoVerdict::Interrupted) && ended(NoVerdict::MaxFail(NonZero::<usize>::MIN)));
        assert!(!ended(NoVerdict::Crashes(10)) && !ended(NoVerdict::Gone));
    }
}

//! Ending a run before its tests: because the user wants it, or because enough
//! of them failed.

use crate::interrupt::{Interrupt, Urgency};
use crate::text;
use npugate_schema::{Outcome, Record};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why a run ends before its tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The user ended it.
    Interrupted,
    /// As many tests failed as were to end it.
    MaxFail(NonZero<usize>),
}

impl Stop {
    /// The record of a test that has no verdict because of this.
    pub fn record(self, name: impl Into<String>) -> Record {
        let reason = self.reason();
        Record::new(name, Outcome::Skipped { reason: reason.clone() }, reason)
    }

    fn reason(self) -> String {
        match self {
            Self::Interrupted => INTERRUPTED.to_owned(),
            Self::MaxFail(limit) => {
                format!("{NOT_RUN}{} failed", text::count(limit.get(), "test"))
            }
        }
    }
}

const INTERRUPTED: &str = "interrupted";
const NOT_RUN: &str = "not run: the run ended after ";

/// Whether a record is of a test that the user did not wait for.
pub fn is_interrupted(record: &Record) -> bool {
    matches!(&record.outcome, Outcome::Skipped { reason } if reason == INTERRUPTED)
}

/// Whether a record is of a test that did not run since others had failed.
pub fn is_past_max_fail(record: &Record) -> bool {
    matches!(&record.outcome, Outcome::Skipped { reason } if reason.starts_with(NOT_RUN))
}

/// Whether a record is of a test that did not run because the run had ended.
pub fn was_not_run(record: &Record) -> bool {
    is_interrupted(record) || is_past_max_fail(record)
}

/// What ends a run early, shared by all that run in it.
#[derive(Debug)]
pub struct Brake {
    interrupt: Interrupt,
    max_fail: Option<NonZero<usize>>,
    failed: AtomicUsize,
}

impl Brake {
    /// A run that ends on an interrupt, or after so many failures.
    pub fn new(interrupt: Interrupt, max_fail: Option<NonZero<usize>>) -> Self {
        Self { interrupt, max_fail, failed: AtomicUsize::new(0) }
    }

    /// Takes a final verdict into account.
    pub fn note(&self, record: &Record) {
        if !record.outcome.is_good() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether nothing is to be waited for any longer.
    pub fn is_urgent(&self) -> bool {
        self.interrupt.urgency() == Urgency::Now
    }

    /// Whether the run is to end, and why.
    pub fn stop(&self) -> Option<Stop> {
        if self.interrupt.has_come() {
            return Some(Stop::Interrupted);
        }
        let limit = self.max_fail?;
        let reached = self.failed.load(Ordering::Relaxed) >= limit.get();
        reached.then_some(Stop::MaxFail(limit))
    }
}

impl Default for Brake {
    /// Nothing ends it.
    fn default() -> Self {
        Self::new(Interrupt::default(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_after_as_many_failures_as_it_may_have() {
        let brake = Brake::new(Interrupt::default(), NonZero::new(2));
        let record = |outcome| Record::new("a", outcome, "");
        brake.note(&record(Outcome::Failed));
        brake.note(&record(Outcome::Passed));
        assert_eq!(brake.stop(), None);
        brake.note(&record(Outcome::Regressed));
        let stop = brake.stop().unwrap();
        assert_eq!(stop, Stop::MaxFail(NonZero::new(2).unwrap()));
        let record = stop.record("b");
        assert_eq!(record.verdict, "not run: the run ended after 2 tests failed");
        assert!(is_past_max_fail(&record) && !is_interrupted(&record));
    }

    #[test]
    fn without_a_limit_nothing_but_the_user_ends_it() {
        let brake = Brake::default();
        for _ in 0..100 {
            brake.note(&Record::new("a", Outcome::Failed, ""));
        }
        assert_eq!(brake.stop(), None);
        assert!(is_interrupted(&Stop::Interrupted.record("a")));
    }
}

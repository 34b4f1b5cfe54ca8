//! Ending a run before all tests have run, because the user wants it or because enough
//! tests failed.

use crate::interrupt::{Interrupt, Urgency};
use npugate_schema::Record;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why a run ends before all tests have run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The user ended it.
    Interrupted,
    /// This many tests failed, which is the limit.
    MaxFail(NonZero<usize>),
}

/// What ends a run early, shared by all its workers.
#[derive(Debug)]
pub struct Brake {
    interrupt: Interrupt,
    max_fail: Option<NonZero<usize>>,
    failed: AtomicUsize,
}

impl Brake {
    /// Ends a run on an interrupt, or after this number of failures.
    pub fn new(interrupt: Interrupt, max_fail: Option<NonZero<usize>>) -> Self {
        Self { interrupt, max_fail, failed: AtomicUsize::new(0) }
    }

    /// Takes a final verdict into account.
    pub fn note(&self, record: &Record) {
        if !record.outcome.is_good() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the run must end without waiting for anything.
    pub fn is_urgent(&self) -> bool {
        self.interrupt.urgency() == Urgency::Now
    }

    /// Why the run must end, if it must.
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
    /// Never ends the run.
    fn default() -> Self {
        Self::new(Interrupt::default(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::Outcome;

    #[test]
    fn a_run_ends_after_the_allowed_number_of_failures() {
        let brake = Brake::new(Interrupt::default(), NonZero::new(2));
        let record = |outcome| Record::new("a", outcome, "");
        brake.note(&record(Outcome::Failed));
        brake.note(&record(Outcome::Passed));
        assert_eq!(brake.stop(), None);
        brake.note(&record(Outcome::Regressed));
        assert_eq!(brake.stop(), Some(Stop::MaxFail(NonZero::new(2).unwrap())));
    }

    #[test]
    fn without_a_limit_only_the_user_ends_a_run() {
        let brake = Brake::default();
        for _ in 0..100 {
            brake.note(&Record::new("a", Outcome::Failed, ""));
        }
        assert_eq!(brake.stop(), None);
    }
}

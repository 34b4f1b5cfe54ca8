//! The bookkeeping of one pass over a model's tests, in as many processes as it takes:
//! which tests have a verdict, and in which test a process died.

use super::events::BadLine;
use super::{NoVerdict, Stop};
use npugate_schema::{EVENT_SCHEMA, Event, Outcome, Record, format_duration};
use std::collections::BTreeSet;
use std::time::Duration;

/// After this many crashes, the device or the driver is at fault rather than a test, and
/// the remaining tests are given up.
const MAX_CRASHES: usize = 10;

/// What to do about formats that differ.
const SAME_VERSION: &str = ": use the same version of the npugate crate and of cargo-npugate";

/// The bookkeeping of one pass.
#[derive(Debug)]
pub struct Tracker {
    /// Tests to run, in the listing's order.
    planned: Vec<String>,
    /// Tests with a verdict.
    judged: BTreeSet<String>,
    /// Whether every test that the gate ran had a good outcome.
    all_good: bool,
    /// How many processes died in a test.
    crashes: usize,
    launch: Launch,
    /// What is wrong with the gate itself.
    troubles: Vec<String>,
}

/// What one process has reported so far.
#[derive(Debug, Default)]
struct Launch {
    finished: bool,
    /// Tests that have started and not ended, in the order in which they started.
    open: Vec<Open>,
    /// Whether it gave a verdict that was missing.
    progressed: bool,
    /// Its last event, and when it came.
    last: Option<(String, f64)>,
}

#[derive(Debug)]
struct Open {
    name: String,
    since: f64,
}

/// How a process ended, for a sentence: `signal 11 (SIGSEGV)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End<'a> {
    /// The words for its exit status.
    pub status: &'a str,
    /// Whether the status is zero.
    pub success: bool,
    /// What ended it.
    pub cause: Cause,
}

/// Why a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It ended by itself.
    Itself,
    /// A test, or the time before or after tests, took longer than this.
    TimedOut(Duration),
}

/// What to do after a process has ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// Every planned test has a verdict.
    Done,
    /// The process died; these tests still need a verdict, in a new process.
    Again(Vec<String>),
}

impl Tracker {
    /// None of these tests has run yet.
    pub fn new(planned: Vec<String>) -> Self {
        Self {
            planned,
            judged: BTreeSet::new(),
            all_good: true,
            crashes: 0,
            launch: Launch::default(),
            troubles: Vec::new(),
        }
    }

    /// A new process starts.
    pub fn launch(&mut self) {
        self.launch = Launch::default();
    }

    /// Handles an event, at `now` seconds of any monotonic clock.
    pub fn event(&mut self, event: &Event, now: f64) {
        self.launch.last = Some((in_words(event), now));
        match event {
            Event::RunStarted { schema, .. } if schema != EVENT_SCHEMA => {
                self.trouble(format!(
                    "it writes events in the format `{schema}`, but this command reads `{EVENT_SCHEMA}`{SAME_VERSION}"
                ));
            }
            Event::TestStarted { name } => {
                self.launch.open.push(Open { name: name.clone(), since: now });
            }
            Event::TestFinished { record } => {
                self.launch.open.retain(|open| open.name != record.name);
                self.all_good &= record.outcome.is_good();
                self.judge(&record.name);
            }
            Event::RunFinished { .. } => self.launch.finished = true,
            // These have nothing to keep, nor do the events of a later version.
            _ => {}
        }
    }

    /// Records a line that is not an event.
    pub fn bad_line(&mut self, line: &BadLine) {
        let BadLine { text, reason } = line;
        // The line looks like an event, perhaps of a later version of the format.
        let hint = if text.starts_with('{') { SAME_VERSION } else { "" };
        self.trouble(format!(
            "it wrote `{text}` among its events, which is not an event: {reason}{hint}"
        ));
    }

    /// The process has ended, at `now`. Returns what to do next, and the records of the tests
    /// that this decides: the one in which the process died, and those that are given up.
    pub fn end(&mut self, end: End<'_>, now: f64) -> (Next, Vec<Record>) {
        let launch = std::mem::take(&mut self.launch);
        if launch.finished {
            return (Next::Done, self.finished(end));
        }
        let mut records = Vec::new();
        // The process died in the test that started last. If several tests were running, the
        // others get another chance.
        if let Some(open) = launch.open.last() {
            self.crashes += 1;
            records.push(culprit(open, launch.last.as_ref(), end, now));
            self.judge(&open.name);
        }
        let remaining = self.remaining();
        if remaining.is_empty() {
            if records.is_empty() {
                self.trouble(format!("it {} after its last test: {}", died(end.cause), end.status));
            }
        } else if self.crashes >= MAX_CRASHES {
            records.extend(self.give_up(remaining, &NoVerdict::Crashes(MAX_CRASHES)));
        } else if launch.progressed || !records.is_empty() {
            return (Next::Again(remaining), records);
        } else {
            let spoke = if launch.last.is_some() { "before any test" } else { "without an event" };
            let reason = format!("the process {} {spoke}: {}", ended(end.cause), end.status);
            self.trouble(format!("{reason}; is its main function `npugate::main`?"));
            records.extend(self.give_up(remaining, &NoVerdict::NoStart(reason)));
        }
        (Next::Done, records)
    }

    /// The run ends early: returns the records of the tests that have no verdict.
    pub fn stop(&mut self, stop: Stop) -> Vec<Record> {
        let remaining = self.remaining();
        self.give_up(remaining, &stop.into())
    }

    /// No more tests can run: returns the records of the tests that have no verdict.
    pub fn give_up_the_rest(&mut self, why: &NoVerdict) -> Vec<Record> {
        let remaining = self.remaining();
        self.give_up(remaining, why)
    }

    /// Whether something is wrong with the gate itself.
    pub fn is_in_trouble(&self) -> bool {
        !self.troubles.is_empty()
    }

    /// What is wrong with the gate itself, apart from its tests.
    pub fn into_troubles(self) -> Vec<String> {
        self.troubles
    }

    /// The gate reported that it ran all tests.
    fn finished(&mut self, end: End<'_>) -> Vec<Record> {
        let remaining = self.remaining();
        let mut records = Vec::new();
        if !remaining.is_empty() {
            self.trouble(format!(
                "it listed {} that it did not run: {}",
                crate::text::count(remaining.len(), "test"),
                crate::text::ellipsis(&remaining.join(", "), 120)
            ));
            records = self.give_up(remaining, &NoVerdict::Omitted);
        }
        match end.cause {
            Cause::TimedOut(after) => self.trouble(format!(
                "it did not end within {} of its last test and was killed",
                format_duration(after)
            )),
            Cause::Itself if !end.success && self.all_good => {
                self.trouble(format!("it ended with {} although no test failed", end.status));
            }
            Cause::Itself => {}
        }
        records
    }

    fn judge(&mut self, name: &str) {
        self.launch.progressed = true;
        self.judged.insert(name.to_owned());
    }

    fn remaining(&self) -> Vec<String> {
        self.planned.iter().filter(|name| !self.judged.contains(*name)).cloned().collect()
    }

    fn give_up(&mut self, names: Vec<String>, why: &NoVerdict) -> Vec<Record> {
        let record = |name: String| {
            self.judged.insert(name.clone());
            why.record(name)
        };
        names.into_iter().map(record).collect()
    }

    fn trouble(&mut self, trouble: String) {
        // A gate that prints into its events usually does so more than once.
        const ENOUGH: usize = 5;
        if self.troubles.len() < ENOUGH && !self.troubles.contains(&trouble) {
            self.troubles.push(trouble);
        }
    }
}

/// The record of the test in which a process ended.
fn culprit(open: &Open, last: Option<&(String, f64)>, end: End<'_>, now: f64) -> Record {
    let seen = last.map_or_else(String::new, |(event, at)| {
        format!("; the last event was {event}, {} earlier", crate::text::duration(now - at))
    });
    let (outcome, verdict) = match end.cause {
        Cause::Itself => {
            let reason = end.status.to_owned();
            let verdict = format!("the process died in this test: {reason}{seen}");
            (Outcome::Crashed { reason }, verdict)
        }
        Cause::TimedOut(after) => {
            let limit = format_duration(after);
            let verdict = format!("no verdict after {limit}: its process was terminated{seen}");
            // Readers only know whole seconds, so a shorter limit is one second.
            (Outcome::TimedOut { seconds: after.as_secs().max(1) }, verdict)
        }
    };
    Record::new(&*open.name, outcome, verdict).took((now - open.since).max(0.0))
}

fn died(cause: Cause) -> &'static str {
    match cause {
        Cause::Itself => "died",
        Cause::TimedOut(_) => "hung",
    }
}

fn ended(cause: Cause) -> &'static str {
    match cause {
        Cause::Itself => "ended",
        Cause::TimedOut(_) => "hung and was killed",
    }
}

/// An event, for a sentence.
fn in_words(event: &Event) -> String {
    match event {
        Event::RunStarted { .. } => "run_started".to_owned(),
        Event::TestStarted { name } => format!("test_started {name}"),
        Event::TestFinished { record } => format!("test_finished {}", record.name),
        Event::RunFinished { .. } => "run_finished".to_owned(),
        _ => "one of a later version".to_owned(),
    }
}

#[cfg(test)]
#[path = "tracker_tests.rs"]
mod tests;

//! The bookkeeping of one model's run over as many processes as it takes: which
//! tests are planned, which have a verdict, which one a dead process was in.

use super::events::BadLine;
use npugate_schema::{EVENT_SCHEMA, Event, Ignore, ListedTest, Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// After this many crashes the device or the driver is at fault, not a test:
/// the rest is given up.
const MAX_CRASHES: usize = 10;

/// Why a test did not run that the user did not wait for.
const INTERRUPTED: &str = "interrupted";

/// What to do about formats that differ.
const SAME_VERSION: &str = ": use the npugate crate and cargo-npugate of the same version";

/// The bookkeeping of one model's run.
#[derive(Debug)]
pub struct Tracker {
    /// Tests to run, in the listing's order, with their verdicts as they come.
    planned: Vec<String>,
    /// Tests that stay off.
    ignored: Vec<(String, Ignore)>,
    records: BTreeMap<String, Record>,
    /// How many processes died in a test.
    crashes: usize,
    launch: Launch,
    /// What is wrong with the gate itself.
    troubles: Vec<String>,
}

/// What one process has told so far.
#[derive(Debug, Default)]
struct Launch {
    spoke: bool,
    finished: bool,
    /// Tests begun and not ended, in the order of their beginning.
    open: Vec<Open>,
    /// Whether it brought a verdict that was missing.
    progressed: bool,
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
    /// Whether that is a zero.
    pub success: bool,
}

/// What to do after a process has ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// Every planned test has a verdict.
    Done,
    /// The process died; these tests still need a verdict, in a new process.
    Again(Vec<String>),
}

/// A model's verdicts, in the listing's order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Verdicts {
    /// One record for each listed test.
    pub records: Vec<Record>,
    /// What is wrong with the gate itself, beyond its tests.
    pub troubles: Vec<String>,
}

impl Tracker {
    /// Plans the listed tests that `runs` admits.
    pub fn new(tests: &[ListedTest], runs: impl Fn(&ListedTest) -> bool) -> Self {
        let (planned, off): (Vec<_>, Vec<_>) = tests.iter().partition(|test| runs(test));
        Self {
            planned: planned.into_iter().map(|test| test.name.clone()).collect(),
            ignored: off
                .into_iter()
                .filter_map(|test| Some((test.name.clone(), test.ignored.clone()?)))
                .collect(),
            records: BTreeMap::new(),
            crashes: 0,
            launch: Launch::default(),
            troubles: Vec::new(),
        }
    }

    /// The planned tests.
    pub fn planned(&self) -> &[String] {
        &self.planned
    }

    /// The test that is running, and since when.
    pub fn running(&self) -> Option<(&str, f64)> {
        self.launch.open.last().map(|open| (open.name.as_str(), open.since))
    }

    /// A new process begins.
    pub fn launch(&mut self) {
        self.launch = Launch::default();
    }

    /// Takes an event in, at `now` seconds of any clock that goes forward.
    pub fn event(&mut self, event: &Event, now: f64) {
        self.launch.spoke = true;
        match event {
            Event::RunStarted { schema, .. } if schema != EVENT_SCHEMA => {
                self.trouble(format!(
                    "it writes events in the format `{schema}`, this command reads `{EVENT_SCHEMA}`{SAME_VERSION}"
                ));
            }
            Event::TestStarted { name } => {
                self.launch.open.push(Open { name: name.clone(), since: now });
            }
            Event::TestFinished { record } => {
                self.launch.open.retain(|open| open.name != record.name);
                self.record(record.clone());
            }
            Event::RunFinished { .. } => self.launch.finished = true,
            // Nothing to keep of these, nor of events of a later version.
            _ => {}
        }
    }

    /// Takes note of a line that is not an event.
    pub fn bad_line(&mut self, line: &BadLine) {
        let BadLine { text, reason } = line;
        // It looks like one: a later version of the format says more.
        let hint = if text.starts_with('{') { SAME_VERSION } else { "" };
        self.trouble(format!("it wrote `{text}` among its events, which is none: {reason}{hint}"));
    }

    /// The process has ended, at `now`. Returns the record of the test that it
    /// died in, if it did.
    pub fn end(&mut self, end: End<'_>, now: f64) -> (Next, Option<Record>) {
        let launch = std::mem::take(&mut self.launch);
        if launch.finished {
            self.finished(end);
            return (Next::Done, None);
        }
        // The last test begun is the one that it died in. If several were
        // under way, the others get another chance.
        let crashed = launch.open.last().map(|open| crashed(open, end, now));
        if let Some(record) = &crashed {
            self.crashes += 1;
            self.record(record.clone());
        }
        let remaining = self.remaining();
        if remaining.is_empty() {
            if crashed.is_none() {
                self.trouble(format!("it died after its last test: {}", end.status));
            }
        } else if self.crashes >= MAX_CRASHES {
            let reason = format!("not run: the process had crashed {MAX_CRASHES} times");
            self.give_up(remaining, &reason);
        } else if launch.progressed || crashed.is_some() {
            return (Next::Again(remaining), crashed);
        } else {
            let spoke = if launch.spoke { "before any test" } else { "without an event" };
            let reason = format!("the process ended {spoke}: {}", end.status);
            self.trouble(format!("{reason}; is its main function `npugate::main`?"));
            self.give_up(remaining, &reason);
        }
        (Next::Done, crashed)
    }

    /// The user ends the run: what has no verdict gets none.
    pub fn interrupted(&mut self) {
        for name in self.remaining() {
            let outcome = Outcome::Skipped { reason: INTERRUPTED.to_owned() };
            self.records.insert(name.clone(), judged(name, outcome));
        }
    }

    /// The verdicts, in the listing's order.
    pub fn into_verdicts(mut self, tests: &[ListedTest]) -> Verdicts {
        for (name, ignore) in std::mem::take(&mut self.ignored) {
            let outcome = Outcome::Ignored { reason: ignore.to_string() };
            self.records.entry(name.clone()).or_insert_with(|| judged(name, outcome));
        }
        let mut records = self.records;
        let mut ordered: Vec<_> =
            tests.iter().filter_map(|test| records.remove(&test.name)).collect();
        // Tests that the gate ran without listing them.
        ordered.extend(records.into_values());
        Verdicts { records: ordered, troubles: self.troubles }
    }

    /// The gate says that it ran everything.
    fn finished(&mut self, end: End<'_>) {
        let remaining = self.remaining();
        if !remaining.is_empty() {
            self.trouble(format!(
                "it listed {} that it did not run: {}",
                crate::text::count(remaining.len(), "test"),
                crate::text::ellipsis(&remaining.join(", "), 120)
            ));
            self.give_up(remaining, "listed, but the gate did not run it");
        }
        let good = self.records.values().all(|record| record.outcome.is_good());
        if !end.success && good {
            self.trouble(format!("it ended with {} though no test failed", end.status));
        }
    }

    fn record(&mut self, record: Record) {
        self.launch.progressed = true;
        self.records.insert(record.name.clone(), record);
    }

    fn remaining(&self) -> Vec<String> {
        let judged = |name: &&String| !self.records.contains_key(*name);
        self.planned.iter().filter(judged).cloned().collect()
    }

    fn give_up(&mut self, names: Vec<String>, reason: &str) {
        for name in names {
            let outcome = Outcome::Invalid { reason: reason.to_owned() };
            self.records.insert(name.clone(), judged(name, outcome));
        }
    }

    fn trouble(&mut self, trouble: String) {
        // A gate that prints into its events does so more than once.
        const ENOUGH: usize = 5;
        let known: BTreeSet<_> = self.troubles.iter().collect();
        if self.troubles.len() < ENOUGH && !known.contains(&trouble) {
            self.troubles.push(trouble);
        }
    }
}

/// Whether a record is of a test that the user did not wait for.
pub fn is_interrupted(record: &Record) -> bool {
    matches!(&record.outcome, Outcome::Skipped { reason } if reason == INTERRUPTED)
}

fn crashed(open: &Open, end: End<'_>, now: f64) -> Record {
    let reason = end.status.to_owned();
    Record {
        name: open.name.clone(),
        verdict: format!("the process died in this test: {reason}"),
        outcome: Outcome::Crashed { reason },
        metrics: Vec::new(),
        seconds: (now - open.since).max(0.0),
        attachments: Vec::new(),
    }
}

/// A record of a test that did not run.
fn judged(name: String, outcome: Outcome) -> Record {
    let verdict = outcome.reason().unwrap_or_default().to_owned();
    Record { name, outcome, verdict, metrics: Vec::new(), seconds: 0.0, attachments: Vec::new() }
}

#[cfg(test)]
#[path = "tracker_tests.rs"]
mod tests;

//! A run in libtest's own JSON, which IDEs read: a suite for each model, with tests called
//! `MODEL$TEST` as in cargo-nextest. A line of the format does not name its suite, so the
//! lines of a suite must stay together: one suite is reported as it happens, and the lines
//! of the others wait until it has ended.

use super::{End, Sink, Stream};
use crate::runner::{Consumer, Happening, ModelResult, Update};
use npugate_schema::{Outcome, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Writes libtest's lines.
pub(super) struct Libtest {
    sink: Sink,
    suites: BTreeMap<usize, Suite>,
    /// The suite that is reported as it happens.
    current: Option<usize>,
    /// The models whose suites have ended.
    told: BTreeSet<String>,
}

/// What is known about a suite.
#[derive(Default)]
struct Suite {
    model: String,
    /// Lines that wait for their turn.
    waiting: Vec<String>,
    started: BTreeSet<String>,
    ended: BTreeSet<String>,
    slow: BTreeSet<String>,
    counts: Counts,
    done: bool,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Suite(SuiteLine),
    Test(TestLine<'a>),
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum SuiteLine {
    Started { test_count: usize },
    Ok(SuiteEnd),
    Failed(SuiteEnd),
}

#[derive(Serialize)]
struct SuiteEnd {
    passed: usize,
    failed: usize,
    ignored: usize,
    measured: usize,
    filtered_out: usize,
    exec_time: f64,
}

#[derive(Serialize)]
struct TestLine<'a> {
    event: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exec_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl Libtest {
    /// Writes the lines to a sink.
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, suites: BTreeMap::new(), current: None, told: BTreeSet::new() }
    }

    fn suite_started(&mut self, index: usize, model: &str, test_count: usize) {
        let suite = Suite { model: model.to_owned(), ..Suite::default() };
        self.suites.insert(index, suite);
        self.tell(index, &Line::Suite(SuiteLine::Started { test_count }));
    }

    /// Writes a line of a suite, now or when it is the suite's turn.
    fn tell(&mut self, index: usize, line: &Line<'_>) {
        // Every line can be written as JSON.
        let Ok(line) = serde_json::to_string(line) else { return };
        if *self.current.get_or_insert(index) == index {
            self.sink.line(&line);
        } else if let Some(suite) = self.suites.get_mut(&index) {
            suite.waiting.push(line);
        }
    }

    fn test_started(&mut self, index: usize, test: &str) {
        let Some(suite) = self.suites.get_mut(&index) else { return };
        // Another attempt is not another test.
        if suite.started.insert(test.to_owned()) {
            let line = TestLine::new("started", &suite.model, test);
            self.tell(index, &Line::Test(line));
        }
    }

    fn test_slow(&mut self, index: usize, test: &str) {
        let Some(suite) = self.suites.get_mut(&index) else { return };
        // What libtest calls a timeout does not end a test either.
        if suite.slow.insert(test.to_owned()) {
            let line = TestLine::new("timeout", &suite.model, test);
            self.tell(index, &Line::Test(line));
        }
    }

    fn test_finished(&mut self, index: usize, record: &Record, output: &str) {
        self.test_started(index, &record.name);
        let Some(suite) = self.suites.get_mut(&index) else { return };
        if !suite.ended.insert(record.name.clone()) {
            return;
        }
        let new = |event| TestLine::new(event, &suite.model, &record.name);
        let exec_time = Some(record.seconds);
        let line = match &record.outcome {
            Outcome::Ignored { reason } => {
                suite.counts.ignored += 1;
                TestLine { message: Some(reason), ..new("ignored") }
            }
            outcome if outcome.is_good() => {
                suite.counts.passed += 1;
                TestLine { exec_time, ..new("ok") }
            }
            outcome => {
                suite.counts.failed += 1;
                let late = matches!(outcome, Outcome::TimedOut { .. });
                let reason = late.then_some("time limit exceeded");
                let stdout = Some(format!("{}\n{output}", record.verdict));
                TestLine { exec_time, stdout, reason, ..new("failed") }
            }
        };
        self.tell(index, &Line::Test(line));
    }

    fn suite_finished(&mut self, index: usize, result: &ModelResult) {
        for record in &result.records {
            let output = result.outputs.get(&record.name).map_or("", String::as_str);
            self.test_finished(index, record, output);
        }
        // A broken gate is a failure that belongs to no test.
        if !result.troubles.is_empty() {
            let trouble = Record::new("gate", Outcome::Failed, result.troubles.join("\n"));
            self.test_finished(index, &trouble, "");
        }
        let Some(suite) = self.suites.get_mut(&index) else { return };
        suite.done = true;
        self.told.insert(suite.model.clone());
        let Counts { passed, failed, ignored } = suite.counts;
        let exec_time = result.seconds;
        let end = SuiteEnd { passed, failed, ignored, measured: 0, filtered_out: 0, exec_time };
        let line = if failed > 0 { SuiteLine::Failed(end) } else { SuiteLine::Ok(end) };
        self.tell(index, &Line::Suite(line));
        if self.current == Some(index) {
            self.next();
        }
    }

    /// Ends the current suite: those that ended meanwhile come next, and then the first of
    /// those that have begun becomes the current one.
    fn next(&mut self) {
        self.suites.retain(|index, _| Some(*index) != self.current);
        self.current = None;
        let done: Vec<_> = self.suites.extract_if(.., |_, suite| suite.done).collect();
        for (_, suite) in done {
            for line in &suite.waiting {
                self.sink.line(line);
            }
        }
        if let Some((&index, suite)) = self.suites.iter_mut().next() {
            self.current = Some(index);
            for line in std::mem::take(&mut suite.waiting) {
                self.sink.line(&line);
            }
        }
    }
}

impl Consumer for Libtest {
    fn consume(&mut self, update: &Update) {
        let index = update.model;
        match &update.what {
            Happening::Started { .. } => {
                let plan = &update.plan;
                let tests = plan.tests.len() + plan.gone.len();
                self.suite_started(index, &plan.description.model, tests);
            }
            Happening::TestStarted { name, .. } => self.test_started(index, name),
            Happening::TestSlow { name, .. } => self.test_slow(index, name),
            Happening::TestFinished { record, output, .. } => {
                self.test_finished(index, record, output);
            }
            Happening::Finished { result } => self.suite_finished(index, result),
            Happening::Waiting { .. }
            | Happening::Launched { .. }
            | Happening::TestRetrying { .. }
            | Happening::Noted(_)
            | Happening::Died { .. } => {}
        }
    }
}

impl Stream for Libtest {
    fn finish(&mut self, end: &End<'_>) {
        for (index, result) in end.results.iter().enumerate() {
            let model = &result.description.model;
            if self.told.contains(model) {
                continue;
            }
            // The model did not run.
            if !self.suites.values().any(|suite| suite.model == *model) {
                self.suite_started(index, model, result.records.len());
            }
            let known = self.suites.iter().find(|(_, suite)| suite.model == *model);
            let index = known.map_or(index, |(index, _)| *index);
            self.suite_finished(index, result);
        }
    }

    fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }
}

impl TestLine<'_> {
    fn new(event: &'static str, model: &str, test: &str) -> Self {
        let name = format!("{model}${test}");
        Self { event, name, exec_time: None, stdout: None, message: None, reason: None }
    }
}

#[cfg(test)]
#[path = "libtest_tests.rs"]
mod tests;

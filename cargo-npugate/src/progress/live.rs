//! The live area of a run: a bar for the whole run, and a line for each model that is
//! running.

use crate::report::words;
use crate::runner::Attempt;
use crate::shell::{Area, Line};
use crate::text;
use npugate_schema::{Outcome, Summary};
use std::{collections::BTreeMap, time::Instant};

/// The live area of a run. Without a terminal it shows nothing.
#[derive(Debug)]
pub(super) struct Live {
    shown: Option<Shown>,
    models: BTreeMap<usize, Model>,
    /// The tests of the whole run.
    tests: usize,
    done: usize,
    summary: Summary,
    start: Instant,
}

/// What the terminal shows.
#[derive(Debug)]
struct Shown {
    area: Area,
    overall: Line,
}

/// A model that is running.
#[derive(Debug)]
struct Model {
    name: String,
    now: Now,
    line: Option<Line>,
}

/// What a model is doing.
#[derive(Debug)]
enum Now {
    /// Its process is starting, or is between two tests.
    Between,
    /// It is waiting for its device.
    Waiting(String),
    /// It is running a test.
    In { test: String, attempt: Attempt, since: Instant },
}

impl Live {
    /// Shows a run of this number of tests in an area, if there is one.
    pub(super) fn new(area: Option<&Area>, tests: usize) -> Self {
        let shown = area.map(|area| Shown { area: area.clone(), overall: area.bar() });
        let (models, summary, start) = (BTreeMap::new(), Summary::default(), Instant::now());
        Self { shown, models, tests, done: 0, summary, start }
    }

    /// A model waits for its device.
    pub(super) fn waiting(&mut self, index: usize, model: &str, message: &str) {
        self.set(index, Some(model), Now::Waiting(message.to_owned()));
    }

    /// A model starts.
    pub(super) fn model_started(&mut self, index: usize, model: &str) {
        self.set(index, Some(model), Now::Between);
    }

    /// A test starts.
    pub(super) fn test_started(&mut self, index: usize, test: &str, attempt: Attempt) {
        let since = Instant::now();
        self.set(index, None, Now::In { test: test.to_owned(), attempt, since });
    }

    /// A model is between two tests.
    pub(super) fn test_ended(&mut self, index: usize) {
        self.set(index, None, Now::Between);
    }

    /// A test has its verdict.
    pub(super) fn test_finished(&mut self, index: usize, outcome: &Outcome) {
        self.done += 1;
        self.summary.add(outcome);
        self.set(index, None, Now::Between);
        self.show_overall();
    }

    /// A model has finished.
    pub(super) fn model_finished(&mut self, index: usize) {
        self.models.remove(&index);
    }

    /// Updates the elapsed times.
    pub(super) fn tick(&mut self) {
        self.show_overall();
        for model in self.models.values() {
            model.show();
        }
    }

    fn set(&mut self, index: usize, name: Option<&str>, now: Now) {
        let line = || self.shown.as_ref().map(|shown| shown.area.line());
        let new = || Model { name: String::new(), now: Now::Between, line: line() };
        let model = self.models.entry(index).or_insert_with(new);
        if let Some(name) = name {
            name.clone_into(&mut model.name);
        }
        model.now = now;
        model.show();
    }

    fn show_overall(&self) {
        let Some(Shown { overall, .. }) = &self.shown else { return };
        let (done, tests) = (self.done, self.tests.max(self.done));
        let seconds = self.start.elapsed().as_secs();
        let counts = words::counts(&self.summary);
        overall.fill(done, tests);
        overall.show("Running", format!("{done}/{tests} in {seconds}s: {counts}"));
    }
}

impl Model {
    fn show(&self) {
        let Some(line) = &self.line else { return };
        let name = &self.name;
        match &self.now {
            Now::Between => line.show("", name),
            Now::Waiting(message) => line.show("Blocking", format!("{name} {message}")),
            Now::In { test, attempt, since } => {
                let again = match attempt.number {
                    ..=1 => String::new(),
                    _ => format!(" (attempt {attempt})"),
                };
                let seconds = since.elapsed().as_secs_f64();
                let seconds = match seconds {
                    1.0.. => format!("  {}", text::duration(seconds)),
                    _ => String::new(),
                };
                line.show(&words::phase(test), format!("{name} {test}{again}{seconds}"));
            }
        }
    }
}

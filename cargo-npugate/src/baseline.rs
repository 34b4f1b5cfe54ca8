//! Baselines after a run: changes from the accepted figures, kept beside the baseline
//! until somebody decides about them.

mod decision;
mod error;
mod last_run;
mod pending;
pub mod review;
mod show;
pub mod unreferenced;

pub use decision::Decision;
pub use error::ChangesError;
pub use last_run::LastRun;
pub use pending::{Change, PendingFile, find};

use crate::environment::Update;
use crate::runner::ModelResult;
use crate::shell::{Shell, Tone};
use crate::text;
use npugate_schema::{Baseline, Outcome, Record};

/// Records the changes of a model's run where the mode says, and reports them.
///
/// # Errors
///
/// A baseline that cannot be read or written.
pub fn update(
    result: &ModelResult,
    mode: Update,
    last_run: &LastRun,
    shell: &mut Shell,
) -> Result<(), ChangesError> {
    let description = &result.description;
    let Some(fixtures) = &description.fixtures else { return Ok(()) };
    let (model, device) = (&description.model, &description.device);
    let path = Baseline::path(fixtures, device);
    let mut file = PendingFile::load(&path, model, device)?;
    let changed = take_in(&mut file, &result.records);
    let what = |n| format!("{} for {model} on {device}", text::count(n, "change"));
    match mode {
        Update::No if changed > 0 => {
            let message =
                format!("{}, not written: run the tests locally and review them", what(changed));
            shell.status(Tone::Odd, "Pending", message);
        }
        Update::No => {}
        Update::Always if changed > 0 => {
            for record in judged(&result.records) {
                file.accept(&record.name);
            }
            file.save()?;
            shell.status(Tone::Good, "Accepted", what(changed));
        }
        Update::New | Update::Always => {
            file.save()?;
            let pending = file.changes().len();
            if pending > 0 {
                if let Err(error) = last_run.save(&path, &result.records) {
                    shell.warn(format_args!(
                        "`cargo npugate review` will show fewer details: {error}"
                    ));
                }
                let message = format!("{}: cargo npugate review", what(pending));
                shell.status(Tone::Odd, "Pending", message);
            }
        }
    }
    Ok(())
}

/// Accepts every figure of a model's run that may enter a baseline, changed or not. If
/// the run listed every test, a test that it did not list is gone, and leaves the baseline.
///
/// # Errors
///
/// A baseline that cannot be read or written.
pub fn save(result: &ModelResult, listed: Listed, shell: &mut Shell) -> Result<(), ChangesError> {
    let description = &result.description;
    let Some(fixtures) = &description.fixtures else { return Ok(()) };
    let (model, device) = (&description.model, &description.device);
    let mut file = PendingFile::load(&Baseline::path(fixtures, device), model, device)?;
    let before = file.baseline.tests.clone();
    let mut names: Vec<_> = judged(&result.records).map(|record| record.name.clone()).collect();
    for record in judged(&result.records) {
        file.pending.accept(record);
    }
    if listed == Listed::Everything {
        let is_there = |name: &String| result.records.iter().any(|record| record.name == *name);
        let gone = before.keys().filter(|name| !is_there(name));
        names.extend(gone.inspect(|name| _ = file.pending.tests.remove(*name)).cloned());
    }
    for name in &names {
        file.accept(name);
    }
    file.save()?;
    let changed =
        names.iter().filter(|name| before.get(*name) != file.baseline.tests.get(*name)).count();
    let message = format!("{} for {model} on {device}", text::count(changed, "change"));
    shell.status(Tone::Good, "Saved", message);
    Ok(())
}

/// How many of a gate's tests were listed in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listed {
    /// Every test.
    Everything,
    /// Those that a filter selected.
    Some,
}

/// The records whose figures may enter a baseline. The figures of a test that failed or
/// could not judge never do.
fn judged(records: &[Record]) -> impl Iterator<Item = &Record> {
    records.iter().filter(|record| matches!(record.outcome, Outcome::Passed | Outcome::Regressed))
}

/// Puts the changes of this run into the pending baseline, and returns the number of tests
/// that differ from the accepted one. Tests that did not run stay as they are; a test
/// whose figures are the accepted ones is no longer pending.
fn take_in(file: &mut PendingFile, records: &[Record]) -> usize {
    let mut changed = 0;
    for record in judged(records) {
        if file.baseline.compare(record).is_change() {
            file.pending.accept(record);
            changed += 1;
        } else {
            file.reject(&record.name);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{Verbosity, testing::Printed};
    use npugate_schema::{BaselineValue, Description, Direction, Metric, Unit, pending_path};
    use std::path::PathBuf;

    struct Fixture {
        folder: tempfile::TempDir,
        printed: Printed,
    }

    impl Fixture {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), printed: Printed::default() }
        }

        fn baseline(&self) -> PathBuf {
            Baseline::path(self.folder.path(), "emu")
        }

        fn accepted(&self) -> Option<Baseline> {
            Baseline::load(&self.baseline(), "tiny", "emu").unwrap()
        }

        fn pending(&self) -> Option<Baseline> {
            Baseline::load(&pending_path(&self.baseline()), "tiny", "emu").unwrap()
        }

        fn run(&self, mode: Update, records: Vec<Record>) -> String {
            let result = ModelResult {
                records,
                seconds: 1.0,
                ..ModelResult::new(
                    Description {
                        fixtures: Some(self.folder.path().to_owned()),
                        ..Description::new("tiny", "emu")
                    },
                    "tiny",
                )
            };
            let before = self.printed.text().len();
            let mut shell = self.printed.shell(Verbosity::Normal);
            let last_run = LastRun::new(self.folder.path().join("target"));
            update(&result, mode, &last_run, &mut shell).unwrap();
            self.printed.text()[before..].to_owned()
        }
    }

    fn record(name: &str, outcome: Outcome, cosine: f64) -> Record {
        let metric = Metric::new("cosine", cosine, Unit::Cosine, Direction::Higher);
        Record::new(name, outcome, "").measured(vec![metric])
    }

    fn passed(name: &str, cosine: f64) -> Record {
        record(name, Outcome::Passed, cosine)
    }

    #[test]
    fn new_tests_wait_beside_the_baseline_and_leave_it_alone() {
        let fixture = Fixture::new();
        let printed = fixture.run(Update::New, vec![passed("a", 0.999), passed("b", 0.99)]);
        assert_eq!(printed, "     Pending 2 changes for tiny on emu: cargo npugate review\n");
        assert_eq!(fixture.accepted(), None);
        assert_eq!(fixture.pending().unwrap().tests.len(), 2);
    }

    #[test]
    fn an_unchanged_run_writes_nothing() {
        let fixture = Fixture::new();
        fixture.run(Update::Always, vec![passed("a", 0.999), passed("b", 0.99)]);
        let before = fixture.accepted();
        // The change is within the noise, and only one test ran.
        assert_eq!(fixture.run(Update::New, vec![passed("a", 0.9991)]), "");
        assert_eq!(fixture.accepted(), before);
        assert_eq!(fixture.pending(), None);
    }

    #[test]
    fn a_filtered_run_adds_to_what_is_pending() {
        let fixture = Fixture::new();
        fixture.run(Update::New, vec![passed("a", 0.999)]);
        let printed = fixture.run(Update::New, vec![passed("b", 0.99)]);
        assert!(printed.contains("2 changes"), "{printed}");
    }

    #[test]
    fn a_change_that_disappears_is_no_longer_pending() {
        let fixture = Fixture::new();
        fixture.run(Update::Always, vec![passed("a", 0.999)]);
        fixture.run(Update::New, vec![passed("a", 0.99999)]);
        assert!(fixture.pending().is_some());
        assert_eq!(fixture.run(Update::New, vec![passed("a", 0.999)]), "");
        assert_eq!(fixture.pending(), None);
    }

    #[test]
    fn failed_and_invalid_tests_never_enter() {
        let fixture = Fixture::new();
        let invalid = Outcome::Invalid { reason: "no golden".into() };
        let records = vec![record("a", Outcome::Failed, 0.5), record("b", invalid, 0.999)];
        assert_eq!(fixture.run(Update::Always, records), "");
        assert_eq!((fixture.accepted(), fixture.pending()), (None, None));
    }

    #[test]
    fn a_regression_may_be_accepted() {
        let fixture = Fixture::new();
        fixture.run(Update::Always, vec![passed("a", 0.999)]);
        let printed = fixture.run(Update::New, vec![record("a", Outcome::Regressed, 0.99)]);
        assert!(printed.contains("1 change"), "{printed}");
        assert_eq!(fixture.pending().unwrap().tests["a"]["cosine"], BaselineValue(0.99));
    }

    #[test]
    fn a_test_that_is_gone_leaves_the_baseline_once_that_is_accepted() {
        let fixture = Fixture::new();
        fixture.run(Update::Always, vec![passed("a", 0.999), passed("b", 0.99)]);
        let gone = || vec![passed("a", 0.999), crate::runner::NoVerdict::Gone.record("b")];
        let printed = fixture.run(Update::New, gone());
        assert!(printed.contains("1 change"), "{printed}");
        assert!(!fixture.pending().unwrap().tests.contains_key("b"));
        assert_eq!(fixture.accepted().unwrap().tests.len(), 2, "it is not accepted yet");
        fixture.run(Update::Always, gone());
        assert_eq!(fixture.accepted().unwrap().tests.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn on_ci_nothing_is_written_and_the_change_is_reported() {
        let fixture = Fixture::new();
        let printed = fixture.run(Update::No, vec![passed("a", 0.999)]);
        assert!(printed.contains("1 change for tiny on emu, not written"), "{printed}");
        assert_eq!(std::fs::read_dir(fixture.folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn always_writes_the_baseline_and_clears_what_was_pending() {
        let fixture = Fixture::new();
        fixture.run(Update::New, vec![passed("a", 0.999)]);
        let printed = fixture.run(Update::Always, vec![passed("a", 0.9995)]);
        assert_eq!(printed, "    Accepted 1 change for tiny on emu\n");
        assert_eq!(fixture.accepted().unwrap().tests["a"]["cosine"], BaselineValue(0.9995));
        assert_eq!(fixture.pending(), None);
    }
}

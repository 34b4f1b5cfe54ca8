use super::*;
use crate::cli::printer;
use crate::cli::select::tests::{plan, resolve};

pub fn record(name: &str, outcome: Outcome, verdict: &str) -> Record {
    let verdict = verdict.to_owned();
    Record::new(name, outcome, verdict).took(0.25)
}

/// Runs the tests of the plan with a function that makes the records; returns the
/// conclusion and what was printed.
pub fn run_with(
    line: &str,
    records: impl FnMut(&str) -> Option<Record>,
) -> (Conclusion, String, String) {
    let (plan, resolved) = (plan(), resolve(line));
    let choice = resolved.selection.choose(&plan);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let description =
        Description { configuration: "as it comes".to_owned(), ..Description::new("toy", "emu") };
    let sinks = Sinks {
        printer: printer::of(resolved.output, &choice.tests),
        out: &mut out,
        err: &mut err,
        events: Events::open(resolved.events).unwrap(),
        marks: resolved.marks,
    };
    let conclusion =
        super::run(choice, &description, &resolved.run, sinks, records, || false).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (conclusion, text(out), text(err))
}

/// The same, where `passes` says which tests pass.
pub fn run(line: &str, passes: impl Fn(&str) -> bool) -> (Conclusion, String, String) {
    run_with(line, |name| {
        let outcome = if passes(name) { Outcome::Passed } else { Outcome::Failed };
        Some(record(name, outcome, "cosine 0.98 < 0.99"))
    })
}

#[test]
fn only_good_outcomes_pass() {
    let reason = String::new;
    let outcomes = [
        (Outcome::Passed, 0),
        (Outcome::Waived { reason: reason() }, 0),
        (Outcome::Failed, 1),
        (Outcome::Regressed, 1),
        (Outcome::Invalid { reason: reason() }, 1),
        (Outcome::Skipped { reason: reason() }, 1),
    ];
    for (outcome, failed) in outcomes {
        let records = |name: &str| Some(record(name, outcome.clone(), ""));
        let (conclusion, ..) = run_with("softmax", records);
        assert_eq!(conclusion.num_failed, failed, "{outcome}");
        assert_eq!(conclusion.num_passed, 1 - failed, "{outcome}");
    }
}

#[test]
fn a_test_that_cannot_be_found_fails() {
    let (conclusion, _, err) = run_with("softmax", |_| None);
    assert!(conclusion.has_failed());
    assert!(err.contains("Error: kernel::softmax::4x16: the test was planned but cannot be found"));
}

#[test]
fn failing_fast_stops_after_the_first_failure() {
    let mut ran = 0;
    let (conclusion, ..) = run_with("--fail-fast", |name| {
        ran += 1;
        Some(record(name, Outcome::Failed, ""))
    });
    assert_eq!((ran, conclusion.num_failed), (1, 1));
}

#[test]
fn a_seed_shuffles_the_tests_and_is_printed() {
    let order = |line: &str| {
        let mut names = Vec::new();
        let (_, out, _) = run_with(line, |name| {
            names.push(name.to_owned());
            Some(record(name, Outcome::Passed, ""))
        });
        (names, out)
    };
    let (plain, _) = order("");
    let seeded: Vec<_> = (0..20).map(|seed| order(&format!("--shuffle-seed {seed}")).0).collect();
    assert!(seeded.iter().any(|names| *names != plain));
    let (_, out) = order("--shuffle-seed 7");
    assert!(out.contains("running 5 tests (shuffle seed: 7)\n"), "{out}");
}

#[test]
fn the_logfile_has_a_line_for_each_test() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let line = format!("--logfile {}", path.display());
    assert!(run(&line, |name| !name.ends_with("high")).0.has_failed());
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "failed kernel::gemm::16x16x16::high\n\
         ok kernel::gemm::16x16x16\n\
         ok kernel::softmax::4x16\n\
         ignored block::layer00::cosine\n\
         ignored tokens::base::p07\n"
    );
}

/// Runs tests of which the third loses the device; returns the names of those that
/// ran, standard error and the events.
fn run_until_lost(line: &str) -> (Vec<String>, String, String) {
    let (plan, resolved) = (plan(), resolve(line));
    let choice = resolved.selection.choose(&plan);
    let events = tempfile::NamedTempFile::new().unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ran = std::cell::RefCell::new(Vec::new());
    let sinks = Sinks {
        printer: printer::of(resolved.output, &choice.tests),
        out: &mut out,
        err: &mut err,
        events: Events::open(Some(events.path().to_owned())).unwrap(),
        marks: resolved.marks,
    };
    let records = |name: &str| {
        ran.borrow_mut().push(name.to_owned());
        let lost = ran.borrow().len() == 3;
        let outcome = if lost { Outcome::Failed } else { Outcome::Passed };
        Some(record(name, outcome, "the run is not done at its deadline"))
    };
    let is_lost = || ran.borrow().len() == 3;
    let description = Description::new("toy", "xrt");
    let conclusion =
        super::run(choice, &description, &resolved.run, sinks, records, is_lost).unwrap();
    assert!(conclusion.has_failed());
    let events = std::fs::read_to_string(events.path()).unwrap();
    (ran.into_inner(), String::from_utf8(err).unwrap(), events)
}

#[test]
fn a_lost_device_ends_the_process_and_leaves_the_rest_to_another() {
    let (ran, err, events) = run_until_lost("--include-ignored");
    assert_eq!(ran.len(), 3);
    assert!(
        err.contains("accepts no more work from this process, with 2 tests left to run"),
        "{err}"
    );
    // The reader of the events sees a process that did not run to its end.
    assert!(events.contains("test_finished") && !events.contains("run_finished"), "{events}");
}

#[test]
fn a_device_that_the_last_test_loses_ends_the_run_like_any_failure() {
    let (ran, err, events) = run_until_lost("");
    assert_eq!(ran.len(), 3);
    assert!(!err.contains("left to run"), "{err}");
    assert!(events.contains("run_finished"), "{events}");
}

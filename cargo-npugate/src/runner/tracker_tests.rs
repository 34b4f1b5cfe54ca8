use super::*;
use npugate_schema::Summary;

const SEGV: End<'_> = End { status: "signal 11 (SIGSEGV)", success: false };
const OK: End<'_> = End { status: "exit status 0", success: true };
const FAILED: End<'_> = End { status: "exit status 101", success: false };

fn listed(names: &[&str]) -> Vec<ListedTest> {
    names.iter().map(|name| ListedTest::new(*name)).collect()
}

fn tracker(tests: &[ListedTest]) -> Tracker {
    Tracker::new(tests, |test| test.ignored.is_none())
}

fn start(name: &str) -> Event {
    Event::TestStarted { name: name.into() }
}

fn finish(name: &str) -> Event {
    Event::TestFinished { record: judged(name.into(), Outcome::Passed) }
}

fn finished() -> Event {
    Event::RunFinished { summary: Summary::default(), seconds: 1.0 }
}

fn feed(tracker: &mut Tracker, events: &[Event]) {
    tracker.launch();
    for (second, event) in events.iter().enumerate() {
        tracker.event(event, second as f64);
    }
}

fn outcomes(verdicts: &Verdicts) -> Vec<(&str, String)> {
    verdicts
        .records
        .iter()
        .map(|record| (record.name.as_str(), record.outcome.to_string()))
        .collect()
}

#[test]
fn a_run_to_the_end_needs_no_second_process() {
    let tests = listed(&["a", "b"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("b"), finish("b"), start("a"), finish("a"), finished()]);
    assert_eq!(tracker.end(OK, 9.0), (Next::Done, None));
    let verdicts = tracker.into_verdicts(&tests);
    assert_eq!(outcomes(&verdicts), [("a", "passed".into()), ("b", "passed".into())]);
    assert_eq!(verdicts.troubles, [""; 0]);
}

#[test]
fn the_test_that_a_process_died_in_has_crashed_and_the_rest_run_again() {
    let tests = listed(&["a", "b", "c", "d"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), finish("a"), start("b")]);
    assert_eq!(tracker.running(), Some(("b", 2.0)));
    let (next, record) = tracker.end(SEGV, 5.0);
    assert_eq!(next, Next::Again(vec!["c".into(), "d".into()]));
    let record = record.unwrap();
    assert_eq!((record.name.as_str(), record.seconds), ("b", 3.0));
    assert_eq!(record.outcome, Outcome::Crashed { reason: "signal 11 (SIGSEGV)".into() });

    feed(&mut tracker, &[start("c"), finish("c"), start("d"), finish("d"), finished()]);
    assert_eq!(tracker.end(OK, 9.0).0, Next::Done);
    let verdicts = tracker.into_verdicts(&tests);
    let states: Vec<_> = outcomes(&verdicts).into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["passed", "crashed", "passed", "passed"]);
    assert_eq!(verdicts.troubles, [""; 0]);
}

#[test]
fn of_several_open_tests_the_last_one_is_the_culprit() {
    let tests = listed(&["a", "b"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), start("b")]);
    let (next, record) = tracker.end(SEGV, 5.0);
    assert_eq!(record.unwrap().name, "b");
    assert_eq!(next, Next::Again(vec!["a".into()]));
}

#[test]
fn a_process_that_dies_before_any_test_is_not_started_for_ever() {
    let tests = listed(&["a", "b"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[]);
    assert_eq!(tracker.end(FAILED, 1.0), (Next::Done, None));
    let verdicts = tracker.into_verdicts(&tests);
    assert_eq!(outcomes(&verdicts), [("a", "invalid".into()), ("b", "invalid".into())]);
    assert_eq!(verdicts.troubles.len(), 1);
    assert!(verdicts.troubles[0].contains("without an event: exit status 101"), "{verdicts:?}");
}

#[test]
fn a_death_between_tests_restarts_as_long_as_there_is_progress() {
    let tests = listed(&["a", "b"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), finish("a")]);
    assert_eq!(tracker.end(SEGV, 1.0), (Next::Again(vec!["b".into()]), None));
    feed(&mut tracker, &[]);
    assert_eq!(tracker.end(SEGV, 1.0), (Next::Done, None));
}

#[test]
fn a_death_after_the_last_test_is_not_forgotten() {
    let tests = listed(&["a"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), finish("a")]);
    assert_eq!(tracker.end(SEGV, 1.0), (Next::Done, None));
    let troubles = tracker.into_verdicts(&tests).troubles;
    assert_eq!(troubles, ["it died after its last test: signal 11 (SIGSEGV)"]);
}

#[test]
fn a_gate_that_crashes_in_every_test_is_given_up() {
    let names: Vec<_> = (0..MAX_CRASHES + 5).map(|i| format!("t{i:02}")).collect();
    let tests = listed(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut tracker = tracker(&tests);
    let mut todo = names;
    let mut launches = 0;
    loop {
        launches += 1;
        feed(&mut tracker, &[start(&todo[0])]);
        match tracker.end(SEGV, 1.0).0 {
            Next::Again(rest) => todo = rest,
            Next::Done => break,
        }
    }
    assert_eq!(launches, MAX_CRASHES);
    let verdicts = tracker.into_verdicts(&tests);
    let states = outcomes(&verdicts);
    assert_eq!(states.iter().filter(|(_, state)| state == "crashed").count(), MAX_CRASHES);
    assert_eq!(states.iter().filter(|(_, state)| state == "invalid").count(), 5);
}

#[test]
fn a_gate_that_skips_a_listed_test_is_caught() {
    let tests = listed(&["a", "b"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), finish("a"), finished()]);
    assert_eq!(tracker.end(OK, 1.0).0, Next::Done);
    let verdicts = tracker.into_verdicts(&tests);
    assert_eq!(outcomes(&verdicts)[1].1, "invalid");
    assert_eq!(verdicts.troubles, ["it listed 1 test that it did not run: b"]);
}

#[test]
fn a_failure_without_a_failed_test_is_trouble() {
    let tests = listed(&["a"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), finish("a"), finished()]);
    tracker.end(FAILED, 1.0);
    let troubles = tracker.into_verdicts(&tests).troubles;
    assert_eq!(troubles, ["it ended with exit status 101 though no test failed"]);
}

#[test]
fn tests_that_are_off_get_a_record_with_the_reason() {
    let mut tests = listed(&["a", "b"]);
    tests[1].ignored = Some(Ignore::Full);
    let mut tracker = tracker(&tests);
    assert_eq!(tracker.planned(), ["a"]);
    feed(&mut tracker, &[start("a"), finish("a"), finished()]);
    tracker.end(OK, 1.0);
    let verdicts = tracker.into_verdicts(&tests);
    assert_eq!(verdicts.records[1].outcome.reason(), Some("in the long set: run with --full"));
    assert_eq!(verdicts.records[1].verdict, "in the long set: run with --full");
}

#[test]
fn tests_that_an_interrupt_left_without_a_verdict_are_skipped() {
    let tests = listed(&["a", "b", "c"]);
    let mut tracker = tracker(&tests);
    feed(&mut tracker, &[start("a"), finish("a"), start("b")]);
    tracker.interrupted();
    let verdicts = tracker.into_verdicts(&tests);
    let states: Vec<_> = outcomes(&verdicts).into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["passed", "skipped", "skipped"]);
    assert!(!is_interrupted(&verdicts.records[0]) && is_interrupted(&verdicts.records[1]));
    assert_eq!(verdicts.troubles, [""; 0]);
}

#[test]
fn another_version_of_the_events_is_trouble() {
    let tests = listed(&["a"]);
    let mut tracker = tracker(&tests);
    let begin = Event::RunStarted {
        schema: "npugate-events/9".into(),
        model: "m".into(),
        device: "emu".into(),
        configuration: String::new(),
        planned: 1,
    };
    feed(&mut tracker, &[begin, start("a"), finish("a"), finished()]);
    tracker.end(OK, 1.0);
    assert!(tracker.into_verdicts(&tests).troubles[0].contains("npugate-events/9"));
}

use super::*;
use npugate_schema::{NotRun, Summary};

const fn end(status: &'static str, success: bool) -> End<'static> {
    End { status, success, cause: Cause::Itself }
}

const SEGV: End<'_> = end("signal 11 (SIGSEGV)", false);
const OK: End<'_> = end("exit status 0", true);
const FAILED: End<'_> = end("exit status 101", false);

fn tracker(tests: &[&str]) -> Tracker {
    Tracker::new(tests.iter().map(ToString::to_string).collect())
}

fn start(name: &str) -> Event {
    Event::TestStarted { name: name.into() }
}

fn finish(name: &str) -> Event {
    Event::TestFinished { record: Record::new(name, Outcome::Passed, "") }
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

fn again(names: &[&str]) -> Next {
    Next::Again(names.iter().map(ToString::to_string).collect())
}

#[test]
fn a_run_to_the_end_needs_no_second_process() {
    let mut tracker = tracker(&["a", "b"]);
    feed(&mut tracker, &[start("b"), finish("b"), start("a"), finish("a"), finished()]);
    assert_eq!(tracker.end(OK, 9.0), (Next::Done, vec![]));
    assert_eq!(tracker.into_troubles(), [""; 0]);
}

#[test]
fn the_test_in_which_a_process_died_has_crashed_and_the_rest_run_again() {
    let mut tracker = tracker(&["a", "b", "c", "d"]);
    feed(&mut tracker, &[start("a"), finish("a"), start("b")]);
    let (next, records) = tracker.end(SEGV, 5.0);
    assert_eq!(next, again(&["c", "d"]));
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((record.name.as_str(), record.seconds), ("b", 3.0));
    assert_eq!(record.outcome, Outcome::Crashed { reason: "signal 11 (SIGSEGV)".into() });
    assert_eq!(
        record.verdict,
        "the process died in this test: signal 11 (SIGSEGV); the last event was test_started b, 3.0s earlier"
    );

    feed(&mut tracker, &[start("c"), finish("c"), start("d"), finish("d"), finished()]);
    assert_eq!(tracker.end(OK, 9.0), (Next::Done, vec![]));
    assert_eq!(tracker.into_troubles(), [""; 0]);
}

#[test]
fn the_test_that_took_too_long_has_timed_out_and_the_rest_run_again() {
    let mut tracker = tracker(&["a", "b"]);
    feed(&mut tracker, &[start("a")]);
    let cause = Cause::TimedOut(Duration::from_secs(2));
    let (next, records) =
        tracker.end(End { status: "signal 15 (SIGTERM)", success: false, cause }, 2.0);
    assert_eq!(next, again(&["b"]));
    assert_eq!(records[0].outcome, Outcome::TimedOut { seconds: 2 });
    assert_eq!(
        records[0].verdict,
        "no verdict after 2s: its process was terminated; the last event was test_started a, 2.0s earlier"
    );
}

#[test]
fn of_several_open_tests_the_last_one_is_the_culprit() {
    let mut tracker = tracker(&["a", "b"]);
    feed(&mut tracker, &[start("a"), start("b")]);
    let (next, records) = tracker.end(SEGV, 5.0);
    assert_eq!(records[0].name, "b");
    assert_eq!(next, again(&["a"]));
}

#[test]
fn a_process_that_dies_before_any_test_is_not_restarted_for_ever() {
    let mut tracker = tracker(&["a", "b"]);
    feed(&mut tracker, &[]);
    let (next, records) = tracker.end(FAILED, 1.0);
    assert_eq!(next, Next::Done);
    let invalid = |record: &&Record| matches!(record.outcome, Outcome::Invalid { .. });
    assert_eq!(records.iter().filter(invalid).count(), 2);
    let troubles = tracker.into_troubles();
    assert_eq!(troubles.len(), 1);
    assert!(troubles[0].contains("without an event: exit status 101"), "{troubles:?}");
}

#[test]
fn a_death_between_tests_restarts_as_long_as_there_is_progress() {
    let mut tracker = tracker(&["a", "b"]);
    feed(&mut tracker, &[start("a"), finish("a")]);
    assert_eq!(tracker.end(SEGV, 1.0), (again(&["b"]), vec![]));
    feed(&mut tracker, &[]);
    assert_eq!(tracker.end(SEGV, 1.0).0, Next::Done);
}

#[test]
fn a_death_after_the_last_test_is_reported() {
    let mut tracker = tracker(&["a"]);
    feed(&mut tracker, &[start("a"), finish("a")]);
    assert_eq!(tracker.end(SEGV, 1.0), (Next::Done, vec![]));
    let troubles = tracker.into_troubles();
    assert_eq!(troubles, ["it died after its last test: signal 11 (SIGSEGV)"]);
}

#[test]
fn a_gate_that_hangs_after_its_last_test_is_reported() {
    let mut tracker = tracker(&["a"]);
    feed(&mut tracker, &[start("a"), finish("a"), finished()]);
    let cause = Cause::TimedOut(Duration::from_secs(30));
    tracker.end(End { status: "signal 9 (SIGKILL)", success: false, cause }, 40.0);
    let troubles = tracker.into_troubles();
    assert_eq!(troubles, ["it did not end within 30s of its last test and was killed"]);
}

#[test]
fn a_gate_that_crashes_in_every_test_is_given_up() {
    let names: Vec<_> = (0..MAX_CRASHES + 5).map(|i| format!("t{i:02}")).collect();
    let mut tracker = Tracker::new(names.clone());
    let (mut todo, mut launches, mut records) = (names, 0, Vec::new());
    loop {
        launches += 1;
        feed(&mut tracker, &[start(&todo[0])]);
        let (next, judged) = tracker.end(SEGV, 1.0);
        records.extend(judged);
        match next {
            Next::Again(rest) => todo = rest,
            Next::Done => break,
        }
    }
    assert_eq!(launches, MAX_CRASHES);
    let count =
        |word: &str| records.iter().filter(|record| record.outcome.to_string() == word).count();
    assert_eq!((count("crashed"), count("invalid")), (MAX_CRASHES, 5));
}

#[test]
fn a_gate_that_skips_a_listed_test_is_caught() {
    let mut tracker = tracker(&["a", "b"]);
    feed(&mut tracker, &[start("a"), finish("a"), finished()]);
    let (next, records) = tracker.end(OK, 1.0);
    assert_eq!(next, Next::Done);
    assert_eq!((records[0].name.as_str(), records[0].outcome.to_string()), ("b", "invalid".into()));
    assert_eq!(tracker.into_troubles(), ["it listed 1 test that it did not run: b"]);
}

#[test]
fn a_failure_without_a_failed_test_is_trouble() {
    let mut tracker = tracker(&["a"]);
    feed(&mut tracker, &[start("a"), finish("a"), finished()]);
    tracker.end(FAILED, 1.0);
    let troubles = tracker.into_troubles();
    assert_eq!(troubles, ["it ended with exit status 101 although no test failed"]);
}

#[test]
fn tests_that_an_interrupt_left_without_a_verdict_are_skipped() {
    let mut tracker = tracker(&["a", "b", "c"]);
    feed(&mut tracker, &[start("a"), finish("a"), start("b")]);
    let records = tracker.stop(Stop::Interrupted);
    let names: Vec<_> = records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
    assert!(records.iter().all(|record| record.not_run == Some(NotRun::Interrupted)));
    assert_eq!(tracker.into_troubles(), [""; 0]);
}

#[test]
fn another_version_of_the_events_is_trouble() {
    let mut tracker = tracker(&["a"]);
    let begin = Event::RunStarted {
        schema: "npugate-events/9".into(),
        model: "m".into(),
        device: "emu".into(),
        configuration: String::new(),
        planned: 1,
    };
    feed(&mut tracker, &[begin, start("a"), finish("a"), finished()]);
    tracker.end(OK, 1.0);
    assert!(tracker.into_troubles()[0].contains("npugate-events/9"));
}

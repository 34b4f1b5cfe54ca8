//! Scheduling: timeouts, restarts, retries, early ends, jobs, the lock.

mod support;

use quick_junit::Report;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::Stdio,
    time::{Duration, Instant},
};
use support::Scene;

#[test]
fn a_hang_is_ended_and_named_and_the_rest_still_run() {
    let scene = Scene::with_tests(
        "alpha kernel::a pass
         alpha kernel::b hang
         alpha kernel::c pass",
    );
    let start = Instant::now();
    let run = scene.run("--timeout 600ms --slow 200ms --junit junit.xml");
    run.expect(
        100,
        &[
            "        SLOW [",
            "alpha kernel::b",
            "     TIMEOUT [",
            "no verdict after 600ms: its process was terminated; the last event was test_started kernel::b, 0.6",
            "  Restarting alpha after signal 15 (SIGTERM): 1 test left",
            "     Summary 3 tests run in ",
            ": 2 passed, 1 failed",
        ],
    );
    assert!(start.elapsed() < Duration::from_secs(20));
    let report = Report::deserialize_from_str(&scene.read("junit.xml")).unwrap();
    assert_eq!((report.tests, report.failures, report.errors, report.skipped), (3, 1, 0, 0));
}

#[test]
fn a_gate_that_hangs_before_its_first_test_is_ended_too() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha !hangs-at-start\nbeta a::b pass");
    scene.run("--timeout 500ms").expect(
        96,
        &["the process hung and was killed without an event: signal 15", "1 passed, 1 invalid"],
    );
}

#[test]
fn a_test_that_passes_on_a_retry_is_flaky_and_still_fails() {
    let tests = "alpha a::b flaky\nalpha a::c pass\nalpha a::d fail";
    let scene = Scene::with_tests(tests);
    let state = scene.path("state").display().to_string();
    let scene = scene.with("FAKE_STATE", state);
    let run = scene.run("--retries 2 -v");
    run.expect(
        100,
        &["FLAKY 2/3", "alpha a::b", "did not pass at first, but passed in attempt 2/3"],
    );
    run.expect(100, &["     Summary 3 tests run in ", ": 1 passed, ", "2 failed"]);
    // It never becomes a baseline.
    assert!(!scene.read("fixtures/alpha/baseline/emu.json.new").contains("a::b"));
    fs::remove_file(scene.path("state")).unwrap();
    let scene = scene.with("FAKE_GATE", "alpha a::b flaky\nalpha a::c pass");
    scene.run("--retries 2 --flaky-result pass").expect(0, &["FLAKY 2/3", "     Summary 2 tests"]);
}

#[test]
fn a_run_ends_at_the_first_failure_if_asked_to() {
    let tests =
        "alpha a::b pass\nalpha a::c fail\nalpha a::d slow\nalpha a::e pass\nbeta a::b pass";
    let scene = Scene::with_tests(tests);
    let run = scene.run("--fail-fast --junit junit.xml");
    run.expect(100, &["FAIL [", "   Cancelled 3 tests not run", "Summary 2 tests run"]);
    run.expect_none(&["Running beta", "Restarting", "SKIP", "INVALID"]);
    let report = Report::deserialize_from_str(&scene.read("junit.xml")).unwrap();
    assert_eq!((report.tests, report.failures, report.errors, report.skipped), (5, 1, 0, 3));
    scene.run("--max-fail 2").expect(100, &["Summary 5 tests run"]);
    scene.run("--fail-fast --no-fail-fast").expect(2, &["cannot be used with"]);
    scene.run("--max-fail 0").expect(2, &["invalid value"]);
}

#[test]
fn a_failure_that_could_not_be_retried_is_still_a_failure() {
    let scene = Scene::with_tests("alpha a::b fail\nalpha a::c fail\nalpha a::d pass");
    let run = scene.run("--retries 1 --max-fail 1");
    run.expect(100, &["Summary 3 tests run", "1 passed, 2 failed"]);
}

#[test]
fn models_on_a_device_that_can_be_shared_run_side_by_side() {
    let tests = "alpha a::b slow\nalpha a::c slow\nbeta a::b slow\nbeta a::c slow";
    let scene = Scene::with_tests(tests);
    let seconds = |line: &str| {
        let start = Instant::now();
        scene.run(line).expect(0, &["Summary 4 tests"]);
        start.elapsed().as_secs_f64()
    };
    seconds("");
    let (one, two) = (seconds("-j1"), seconds("-j2"));
    assert!(one - two > 0.5, "{one} s with one job, {two} s with two");
}

#[test]
fn an_exclusive_device_is_held_by_one_run_at_a_time() {
    let tests = "alpha a::b hang\nalpha !exclusive";
    let scene = Scene::with_tests(tests);
    scene.run("list").expect(0, &[]);
    let lock = scene.path("npu.lock").display().to_string();
    let mut first = scene.command(["--lock", &lock]).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(first.stderr.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("Running") {
        assert!(stderr.read_line(&mut printed).unwrap() > 0, "{printed}");
    }
    // By now the first run holds the lock: a second one waits until its timeout.
    let second = scene.run(&format!("--lock {lock} --lock-timeout 1500ms"));
    let holder = format!("    Blocking waiting for the NPU (held by pid {}, `", first.id());
    second.expect(122, &[&holder, "the NPU was not free within 1.5 s: pid "]);
    // With --no-lock a run does not wait, and a shared device needs no lock.
    let third = scene.with("FAKE_GATE", "alpha a::b pass\nalpha !exclusive");
    third.run(&format!("--no-lock --junit {lock}.xml")).expect(0, &["1 passed"]);
    let shared = third.with("FAKE_GATE", "alpha a::b pass");
    shared.run(&format!("--lock {lock}")).expect(0, &["1 passed"]);
    // The lock is free again once the first run has ended, however it ended.
    first.kill().unwrap();
    first.wait().unwrap();
    let _ = stderr.read_to_string(&mut printed);
    let exclusive = shared.with("FAKE_GATE", "alpha a::b pass\nalpha !exclusive");
    exclusive.run(&format!("--lock {lock}")).expect(0, &["1 passed"]);
}

#[test]
fn a_missing_device_skips_tests_or_is_an_error() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha !missing\nbeta a::b pass");
    let run = scene.run("");
    run.expect(119, &["there is no NPU in this machine", "1 passed, 1 skipped"]);
    let required = scene.run("--require-device");
    required.expect(
        122,
        &["error: the device `emu` of alpha is missing: there is no NPU in this machine\n"],
    );
    required.expect_none(&["Running", "Summary"]);
}

#[test]
fn the_output_of_a_failed_test_is_shown_once_and_kept() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha a::c fail");
    let run = scene.run("--junit junit.xml");
    assert_eq!(run.stderr.matches("the device is warm, said a::c").count(), 1, "{run}");
    run.expect_none(&["the device is warm, said a::b", "\u{1e}"]);
    assert!(scene.read("junit.xml").contains("the device is warm, said a::c"));
}

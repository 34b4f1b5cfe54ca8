use super::*;
use crate::report::testing;
use crate::shell::testing::Printed;
use crate::shell::{Area, Colors};
use indicatif::{InMemoryTerm, ProgressDrawTarget};
use npugate_schema::{Direction, FlakyResult, Metric, Unit};
use std::sync::Arc;

fn plan(model: &str) -> Arc<ModelPlan> {
    let mut plan = testing::plan(model, &[]);
    plan.description.configuration = "drain GEMM, rounding rne".into();
    Arc::new(plan)
}

fn record(name: &str, outcome: Outcome, cosine: f64) -> Record {
    let metric = Metric::new("cosine", cosine, Unit::Cosine, Direction::Higher).limited(0.99);
    Record::new(name, outcome, format!("cosine {cosine}")).measured(vec![metric]).took(0.25)
}

/// What is printed for these happenings, each of a model.
fn told<'a>(
    verbosity: Verbosity,
    happenings: impl IntoIterator<Item = (&'a str, Happening)>,
) -> Printed {
    let printed = Printed::default();
    let mut shell = printed.shell(verbosity);
    let mut progress = Progress::new(&mut shell, 3);
    for (model, what) in happenings {
        let index = usize::from(model != "tiny");
        progress.consume(&Update { model: index, plan: plan(model), what });
        progress.tick();
    }
    printed
}

fn started(tests: &[&str]) -> Happening {
    Happening::Started { planned: tests.iter().map(ToString::to_string).collect() }
}

fn finished(record: Record) -> Happening {
    Happening::TestFinished { record, attempt: Attempt::ONLY, output: "printed\n".into() }
}

fn run(verbosity: Verbosity) -> Printed {
    let records = [
        record("kernel::a", Outcome::Passed, 0.9959),
        record("kernel::b", Outcome::Passed, 0.999),
        record("block::c", Outcome::Failed, 0.98),
    ];
    let mut happenings = vec![started(&["kernel::a", "kernel::b", "block::c"])];
    happenings.extend(records.iter().cloned().map(finished));
    let mut all = records.to_vec();
    all.push(record("tokens::d", Outcome::Ignored { reason: "no weights".into() }, 1.0));
    let mut result = testing::result("tiny", all);
    result.troubles.push("odd".into());
    happenings.push(Happening::Finished { result: Arc::new(result) });
    told(verbosity, happenings.into_iter().map(|what| ("tiny", what)))
}

#[test]
fn a_run_shows_a_line_for_each_phase_and_its_failures() {
    let expected = "     Running tiny on emu (drain GEMM, rounding rne)
      kernel tiny: 2 passed in 0.500s, tightest kernel::a: cosine at 41 % of the allowed error
        FAIL [   0.250s] tiny block::c: cosine 0.98
       block tiny: 0 passed, 1 failed in 0.250s
     Ignored tiny: 1 test (no weights)
error: the gate of tiny is broken: odd
";
    assert_eq!(run(Verbosity::Normal).text(), expected);
}

#[test]
fn status_lines_have_the_colours_of_cargo() {
    let colored = run(Verbosity::Normal).colored();
    for line in [
        "\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m tiny on emu",
        "\u{1b}[1m\u{1b}[91m        FAIL\u{1b}[0m [   0.250s] tiny",
        "\u{1b}[1m\u{1b}[93m     Ignored\u{1b}[0m tiny: 1 test",
        "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: the gate",
    ] {
        assert!(colored.contains(line), "{line:?} is not in {colored:?}");
    }
}

#[test]
fn verbose_shows_every_test_and_quiet_only_failures() {
    let verbose = run(Verbosity::Verbose).text();
    assert!(verbose.contains("        PASS [   0.250s] tiny kernel::a: cosine 0.99"), "{verbose}");
    assert_eq!(
        run(Verbosity::Quiet).text(),
        "        FAIL [   0.250s] tiny block::c: cosine 0.98
error: the gate of tiny is broken: odd
"
    );
}

#[test]
fn a_waived_failure_says_why_it_is_waived() {
    let waived = Outcome::Waived { reason: "until the drain kernel fits".into() };
    let record = record("block::a", waived, 0.98);
    let printed = told(
        Verbosity::Normal,
        [("tiny", started(&["block::a", "block::b"])), ("tiny", finished(record))],
    );
    let expected = "      WAIVED [   0.250s] tiny block::a: cosine 0.98
             until the drain kernel fits
";
    assert!(printed.text().ends_with(expected), "{}", printed.text());
}

#[test]
fn models_that_run_in_parallel_are_shown_apart() {
    let printed = told(
        Verbosity::Normal,
        [
            ("tiny", started(&["kernel::a"])),
            ("big", started(&["kernel::a", "kernel::b"])),
            ("big", finished(record("kernel::a", Outcome::Passed, 1.0))),
            ("tiny", finished(record("kernel::a", Outcome::Passed, 1.0))),
            ("big", finished(record("kernel::b", Outcome::Failed, 0.5))),
        ],
    );
    let text = printed.text();
    let lines: Vec<_> = text.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "      kernel tiny: 1 passed in 0.250s",
            "        FAIL [   0.250s] big kernel::b: cosine 0.5",
            "      kernel big: 1 passed, 1 failed in 0.500s",
        ]
    );
}

#[test]
fn a_retried_test_shows_each_attempt_and_its_outcome() {
    let attempt = |number| Attempt { number, of: 3 };
    let retrying = |number, outcome| Happening::TestRetrying {
        record: record("perf::a", outcome, 0.5),
        attempt: attempt(number),
        output: String::new(),
    };
    let flaky = Outcome::Flaky { attempt: 2, attempts: 3, result: FlakyResult::Fail };
    let ended = |name: &str, number, outcome| Happening::TestFinished {
        record: record(name, outcome, 0.5),
        attempt: attempt(number),
        output: String::new(),
    };
    let text = told(
        Verbosity::Normal,
        [
            ("tiny", retrying(1, Outcome::Failed)),
            ("tiny", retrying(2, Outcome::TimedOut { seconds: 9 })),
            ("tiny", ended("perf::a", 2, flaky)),
            ("tiny", ended("perf::b", 3, Outcome::Failed)),
        ],
    )
    .text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains('[')).collect();
    assert_eq!(
        lines,
        [
            "  TRY 1 FAIL [   0.250s] tiny perf::a: cosine 0.5",
            "   TRY 2 TMT [   0.250s] tiny perf::a: cosine 0.5",
            "   FLAKY 2/3 [   0.250s] tiny perf::a: cosine 0.5",
            "        FAIL [   0.250s] tiny perf::b: cosine 0.5 (attempt 3/3)",
        ]
    );
}

fn died(remaining: usize) -> Happening {
    let lines: Vec<_> = (0..30).map(|line| format!("line {line}\n")).collect();
    let (status, output) = ("signal 11 (SIGSEGV)".into(), lines.concat());
    Happening::Died { status, output, remaining }
}

#[test]
fn a_process_that_dies_outside_its_tests_shows_the_end_of_its_output() {
    let text = told(Verbosity::Normal, [("tiny", died(2))]).text();
    assert!(!text.contains("| line 9\n") && text.contains("| line 10\n"), "{text}");
    assert!(
        text.ends_with("  Restarting tiny after signal 11 (SIGSEGV): 2 tests left\n"),
        "{text}"
    );
}

#[test]
fn a_test_that_crashes_keeps_its_output_for_the_end() {
    let crashed = Outcome::Crashed { reason: "signal 11 (SIGSEGV)".into() };
    let crash = || finished(record("kernel::a", crashed.clone(), 0.5));
    let text = told(Verbosity::Normal, [("tiny", crash()), ("tiny", died(2))]).text();
    assert!(!text.contains("line 29") && text.contains("Restarting"), "{text}");
    // The next process has its own output.
    let launched = Happening::Launched { command: String::new() };
    let all = [("tiny", crash()), ("tiny", died(2)), ("tiny", launched), ("tiny", died(0))];
    let text = told(Verbosity::Normal, all).text();
    assert_eq!(text.matches("| line 29\n").count(), 1, "{text}");
}

#[test]
fn a_slow_test_is_reported_again_when_it_has_taken_twice_as_long() {
    let slow = |seconds| ("tiny", Happening::TestSlow { name: "perf::decode".into(), seconds });
    let text = told(Verbosity::Normal, [60.0, 60.1, 119.0, 120.0, 180.0].map(slow)).text();
    assert_eq!(
        text,
        "        SLOW [> 60s] tiny perf::decode\n        SLOW [> 120s] tiny perf::decode\n"
    );
}

#[test]
fn the_holder_of_the_device_is_reported_once() {
    let waiting = |model, pid, seconds| {
        let holder = Holder { pid: Some(pid), command: Some("cargo npugate".into()), seconds };
        (model, Happening::Waiting { holder })
    };
    let text = told(
        Verbosity::Normal,
        [
            waiting("tiny", 4711, Some(12)),
            waiting("big", 4711, Some(12)),
            waiting("tiny", 4711, Some(13)),
            waiting("tiny", 4712, Some(0)),
            waiting("tiny", 4713, None),
        ],
    )
    .text();
    assert_eq!(
        text,
        "    Blocking waiting for the NPU (held by pid 4711, `cargo npugate`, 12 s)
    Blocking waiting for the NPU (held by pid 4712, `cargo npugate`, 0 s)
    Blocking waiting for the NPU (held by pid 4713, `cargo npugate`)
"
    );
}

#[test]
fn a_terminal_shows_the_whole_run_and_each_running_model() {
    let terminal = InMemoryTerm::new(10, 80);
    let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
    let mut shell = Printed::default().shell(Verbosity::Normal);
    shell = shell.with_area(Area::new(target, Colors::Off));
    let mut progress = Progress::new(&mut shell, 4);
    let mut tell = |model: &str, what| {
        let index = usize::from(model != "tiny");
        progress.consume(&Update { model: index, plan: plan(model), what });
        progress.tick();
        terminal.contents()
    };
    let test = |name: &str, number| Happening::TestStarted {
        name: name.into(),
        attempt: Attempt { number, of: 2 },
    };
    tell("tiny", started(&["kernel::a", "kernel::b", "kernel::c"]));
    tell("tiny", finished(record("kernel::a", Outcome::Failed, 0.5)));
    tell("tiny", test("kernel::b", 2));
    let holder = Holder { pid: Some(4711), ..Holder::default() };
    let shown = tell("big", Happening::Waiting { holder });
    assert_eq!(
        shown,
        "     Running [======>                 ] 1/4 in 0s: 0 passed, 1 failed
      kernel tiny kernel::b (attempt 2/2)
    Blocking big waiting for the NPU (held by pid 4711)"
    );
    let result = Arc::new(testing::result("tiny", Vec::new()));
    let shown = tell("tiny", Happening::Finished { result });
    assert!(!shown.contains("kernel"), "{shown}");
    drop(progress);
    assert_eq!(terminal.contents(), "");
}

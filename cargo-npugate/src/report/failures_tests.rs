use super::*;
use crate::report::Reruns;
use crate::runner::NoVerdict;
use crate::shell::testing::Printed;
use npugate_schema::{Description, FlakyResult, Unit};

fn cosine(value: f64) -> Metric {
    Metric::new("cosine", value, Unit::Cosine, Direction::Higher).limited(0.99)
}

fn neutral(name: &str, value: f64) -> Metric {
    Metric::new(name, value, Unit::Count, Direction::Neutral)
}

fn result(records: Vec<Record>) -> ModelResult {
    ModelResult { records, ..ModelResult::new(Description::new("tiny", "emu"), "tiny-llama") }
}

fn shown(result: ModelResult) -> String {
    let printed = Printed::default();
    let run = Run { reruns: Reruns::With(" --full".into()), ..Run::default() };
    print(&[result], &run, &mut printed.shell(Verbosity::Normal));
    printed.text()
}

#[test]
fn a_failure_is_shown_with_its_figures_its_output_and_its_next_steps() {
    let failed = Record::new("block::layer00::cosine", Outcome::Failed, "cosine 0.98 < 0.99")
        .measured(vec![neutral("positions", 12.0), cosine(0.98), cosine(0.995).on("head1")])
        .took(0.25);
    let passed = Record::new("kernel::a", Outcome::Passed, "cosine 0.999 >= 0.99");
    let mut result = result(vec![passed, failed]);
    result.outputs.insert("block::layer00::cosine".into(), "\nfirst\nlast\n".into());
    assert_eq!(
        shown(result),
        "
        FAIL [   0.250s] tiny block::layer00::cosine
             cosine 0.98 < 0.99
             metric        value    limit   used
             cosine         0.98  >= 0.99  200 %
             positions        12
             head1.cosine  0.995  >= 0.99   50 %
             | first
             | last
             rerun: cargo npugate -p tiny-llama --exact block::layer00::cosine --full
             explain: cargo npugate --explain block::cosine
"
    );
}

#[test]
fn twelve_figures_are_shown_and_those_beyond_the_limit_come_first() {
    let mut metrics: Vec<_> = (0..19).map(|n| neutral(&format!("n{n}"), 1.0)).collect();
    metrics.push(cosine(f64::NAN));
    let table = super::metrics(&metrics).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 14, "{table}");
    assert_eq!(lines[1], "cosine    NaN  >= 0.99  beyond 100 %");
    assert_eq!((lines[12], lines[13]), ("n10         1", "... 8 more"));
    assert_eq!(super::metrics(&metrics[..12]).unwrap().lines().count(), 13);
    assert_eq!(super::metrics(&[]), None);
}

#[test]
fn at_most_forty_lines_of_the_output_are_shown() {
    let mut result = result(vec![Record::new("kernel::a", Outcome::Failed, "no")]);
    let lines: Vec<_> = (1..=60).map(|line| format!("line {line}\n")).collect();
    result.outputs.insert("kernel::a".into(), lines.concat());
    let text = shown(result);
    assert!(!text.contains("| line 20\n") && text.contains("| line 21\n"), "{text}");
    assert!(text.contains("| line 60\n"), "{text}");
}

#[test]
fn the_attempts_before_the_last_are_shown_in_short() {
    let outcome = Outcome::Flaky { attempt: 3, attempts: 4, result: FlakyResult::Fail };
    let mut result = result(vec![Record::new("perf::decode", outcome, "passed in the end")]);
    let tried = |outcome, verdict: &str, output: &str| Tried {
        record: Record::new("perf::decode", outcome, verdict).took(2.0),
        output: output.into(),
    };
    let crashed = Outcome::Crashed { reason: "signal 6 (SIGABRT)".into() };
    let earlier = vec![
        tried(crashed, "the process died in this test", "oops\n"),
        tried(Outcome::Failed, "too slow", ""),
    ];
    result.earlier.insert("perf::decode".into(), earlier);
    assert_eq!(
        shown(result),
        "
   FLAKY 3/4 [   0.000s] tiny perf::decode
             passed in the end
             TRY 1 CRASH [   2.000s]: the process died in this test
             | oops
             TRY 2 FAIL [   2.000s]: too slow
             rerun: cargo npugate -p tiny-llama --exact perf::decode --full
"
    );
}

#[test]
fn tests_that_passed_or_were_waived_or_interrupted_are_not_shown() {
    let flaky = Outcome::Flaky { attempt: 2, attempts: 2, result: FlakyResult::Pass };
    let mut records = [Outcome::Passed, flaky, Outcome::Waived { reason: "x".into() }]
        .map(|outcome| Record::new("a::b", outcome, ""))
        .to_vec();
    records.push(NoVerdict::Interrupted.record("a::c"));
    assert_eq!(shown(result(records)), "");
}

#[test]
fn several_tests_that_are_skipped_for_one_reason_are_one_line() {
    let skipped = |reason: &str| Outcome::Skipped { reason: reason.into() };
    let mut records: Vec<_> =
        (0..5).map(|n| Record::new(format!("a::{n}"), skipped("no device"), "")).collect();
    records.push(Record::new("b::c", skipped("no kernel"), "no kernel"));
    let text = shown(result(records));
    assert!(
        text.contains("        SKIP [   0.000s] tiny b::c\n             no kernel\n"),
        "{text}"
    );
    assert!(text.ends_with("\n        SKIP tiny: 5 tests (no device)\n"), "{text}");
    assert_eq!(text.matches("SKIP").count(), 2, "{text}");
}

#[test]
fn a_test_that_is_gone_is_one_line() {
    assert_eq!(
        shown(result(vec![NoVerdict::Gone.record("kernel::b")])),
        "\n   REGRESSED tiny kernel::b: is in the baseline, but the adapter no longer has it\n"
    );
}

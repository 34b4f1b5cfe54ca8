use super::*;
use crate::gate::Gate;
use crate::runner::Attempt;
use crate::shell::testing::Printed;
use crate::workspace::{Adapter, ByDefault};
use cargo_metadata::PackageId;
use npugate_schema::{Direction, Unit};
use std::sync::Arc;

fn plan() -> ModelPlan {
    ModelPlan {
        gate: Gate {
            adapter: Adapter {
                package: "tiny".into(),
                id: PackageId { repr: "tiny".into() },
                version: "0.1.0".into(),
                manifest: "/w/tiny/Cargo.toml".into(),
                gate: "gate".into(),
                model: "tiny".into(),
                goldens: None,
                by_default: ByDefault::Run,
            },
            executable: "/t/gate".into(),
        },
        description: Description {
            configuration: "drain GEMM, rounding rne".into(),
            ..Description::new("tiny", "emu")
        },
        tests: Vec::new(),
        gone: Vec::new(),
        naming: crate::runner::Naming::Filters,
    }
}

fn record(name: &str, outcome: Outcome, cosine: f64) -> Record {
    let metric = Metric::new("cosine", cosine, Unit::Cosine, Direction::Higher).limited(0.99);
    Record {
        name: name.into(),
        outcome,
        verdict: format!("cosine {cosine}"),
        metrics: vec![metric],
        seconds: 0.25,
        attachments: Vec::new(),
    }
}

fn run(verbosity: Verbosity) -> String {
    let printed = Printed::default();
    let mut shell = printed.shell(verbosity);
    let mut progress = Progress::new(&mut shell);
    let (plan, names) = (plan(), ["kernel::a", "kernel::b", "block::c"].map(str::to_owned));
    let records = [
        record("kernel::a", Outcome::Passed, 0.9959),
        record("kernel::b", Outcome::Passed, 0.999),
        record("block::c", Outcome::Failed, 0.98),
    ];
    let plan = Arc::new(plan);
    let mut tell = |what| progress.consume(&Update { model: 0, plan: plan.clone(), what });
    tell(Happening::Started { planned: names.to_vec() });
    for record in &records {
        let attempt = Attempt::ONLY;
        tell(Happening::TestStarted { name: record.name.clone(), attempt });
        let (record, output) = (record.clone(), String::new());
        tell(Happening::TestFinished { record, attempt, output });
    }
    let mut all = records.to_vec();
    all.push(record("tokens::d", Outcome::Ignored { reason: "no weights".into() }, 1.0));
    let result = ModelResult {
        records: all,
        troubles: vec!["odd".into()],
        seconds: 1.0,
        ..ModelResult::new(plan.description.clone(), "tiny")
    };
    tell(Happening::Finished { result: Arc::new(result) });
    printed.text()
}

#[test]
fn a_run_shows_a_line_for_each_phase_and_its_failures() {
    let expected = "     Running tiny on emu (drain GEMM, rounding rne)
      kernel 2 passed in 0.500s, tightest kernel::a: cosine at 41 % of the allowed error
        FAIL [   0.250s] tiny block::c
             cosine 0.98
       block 0 passed, 1 failed in 0.250s
     Ignored 1 test (no weights)
error: the gate of tiny is broken: odd
";
    assert_eq!(run(Verbosity::Normal), expected);
}

#[test]
fn verbose_shows_every_test_and_quiet_only_what_is_wrong() {
    assert!(
        run(Verbosity::Verbose).contains("        PASS [   0.250s] tiny kernel::a: cosine 0.99")
    );
    assert_eq!(
        run(Verbosity::Quiet),
        "        FAIL [   0.250s] tiny block::c
             cosine 0.98
error: the gate of tiny is broken: odd
"
    );
}

#[test]
fn a_dead_process_shows_the_end_of_its_output() {
    let printed = Printed::default();
    let mut shell = printed.shell(Verbosity::Normal);
    let mut progress = Progress::new(&mut shell);
    let lines: Vec<_> = (0..30).map(|line| format!("line {line}\n")).collect();
    progress.died("signal 11 (SIGSEGV)", &lines.concat(), 2);
    let text = printed.text();
    assert!(!text.contains("| line 9\n") && text.contains("| line 10\n"), "{text}");
    assert!(text.ends_with("  Restarting  after signal 11 (SIGSEGV): 2 tests to go\n"), "{text}");
}

#[test]
fn a_test_that_takes_long_is_named_once() {
    let printed = Printed::default();
    let mut shell = printed.shell(Verbosity::Normal);
    let mut progress = Progress::new(&mut shell);
    for seconds in [1.0, 61.0, 62.0] {
        let what = Happening::TestSlow { name: "perf::decode".into(), seconds };
        progress.consume(&Update { model: 0, plan: Arc::new(plan()), what });
    }
    assert_eq!(printed.text().matches("SLOW").count(), 1);
}

#[test]
fn counts_name_only_what_there_is() {
    let outcomes = [Outcome::Passed, Outcome::Failed, Outcome::Regressed];
    assert_eq!(counts(&outcomes.iter().collect()), "1 passed, 1 regressed, 1 failed");
    assert_eq!(tone_of(outcomes.iter()), Tone::Bad);
    assert_eq!(tone_of(outcomes[..1].iter()), Tone::Good);
}

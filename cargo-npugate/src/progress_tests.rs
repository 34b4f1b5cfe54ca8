use super::*;
use crate::gate::Gate;
use crate::shell::testing::Printed;
use crate::workspace::{Adapter, ByDefault};
use cargo_metadata::PackageId;
use npugate_schema::{Direction, Unit};

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
            model: "tiny".into(),
            device: "emu".into(),
            configuration: "drain GEMM, rounding rne".into(),
            fixtures: None,
            weights: None,
            launches: Vec::new(),
        },
        tests: Vec::new(),
        gone: Vec::new(),
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
    progress.consume(Update::ModelStarted { plan: &plan, planned: &names });
    for record in &records {
        progress.consume(Update::TestStarted { name: &record.name });
        progress.consume(Update::TestFinished { record });
    }
    let mut all = records.to_vec();
    all.push(record("tokens::d", Outcome::Ignored { reason: "no weights".into() }, 1.0));
    let result = ModelResult {
        description: plan.description.clone(),
        package: "tiny".into(),
        records: all,
        outputs: Vec::new(),
        troubles: vec!["odd".into()],
        seconds: 1.0,
    };
    progress.consume(Update::ModelFinished { result: &result });
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
        progress.consume(Update::TestRunning { name: "perf::decode", seconds });
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

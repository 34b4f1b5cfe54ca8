use super::*;
use crate::report::streams::sink::testing::Written;
use crate::report::testing;
use crate::runner::NoVerdict;
use npugate_schema::{ExitCode, Outcome};

/// Reports a model with two tests, one of which is off, and returns the lines.
fn told(run: &Run) -> Vec<serde_json::Value> {
    let plan = Arc::new(testing::plan("tiny", &["kernel::a", "kernel::b"]));
    let written = Written::default();
    let mut messages = Messages::start(written.sink(), std::slice::from_ref(&plan), run);
    let mut tell = |what| messages.consume(&Update { model: 0, plan: plan.clone(), what });
    let attempt = |number| Attempt { number, of: 2 };
    tell(Happening::Started { planned: vec!["kernel::a".into()] });
    tell(Happening::TestStarted { name: "kernel::a".into(), attempt: attempt(1) });
    tell(Happening::TestSlow { name: "kernel::a".into(), seconds: 61.0 });
    let failed = Record::new("kernel::a", Outcome::Failed, "no");
    let output = "why\n".to_owned();
    tell(Happening::TestRetrying { record: failed.clone(), attempt: attempt(1), output });
    tell(Happening::TestStarted { name: "kernel::a".into(), attempt: attempt(2) });
    let output = "why\n".to_owned();
    tell(Happening::TestFinished { record: failed.clone(), attempt: attempt(2), output });
    let off = Record::new("kernel::b", Outcome::Ignored { reason: "long".into() }, "long");
    let mut result = testing::result("tiny", vec![failed, off]);
    result.seconds = 62.5;
    tell(Happening::Finished { result: Arc::new(result.clone()) });
    let results = [result];
    messages.finish(&End { results: &results, code: ExitCode::TestsFailed, seconds: 63.0 });
    let text = written.text();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_is_reported_from_its_start_to_its_exit_code() {
    let run = Run { partition: Some("hash:1/2".into()), ..Run::default() };
    let lines = told(&run);
    let kinds: Vec<_> = lines.iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "run_started",
            "test_started",
            "test_slow",
            "test_retrying",
            "test_started",
            "test_finished",
            "test_finished",
            "model_finished",
            "run_finished"
        ]
    );
    assert_eq!(lines[0]["schema"], "npugate-messages/1");
    assert_eq!(lines[0]["partition"], "hash:1/2");
    assert_eq!(lines[0]["models"][0]["package"], "tiny-llama");
    assert_eq!(lines[0]["models"][0]["planned"], serde_json::json!(["kernel::a", "kernel::b"]));
    assert_eq!(lines[5]["attempt"], serde_json::json!({"number": 2, "of": 2}));
    assert_eq!(lines[5]["output"], "why\n");
    assert_eq!(lines[5]["rerun"], "cargo npugate -p tiny-llama --exact kernel::a");
    assert_eq!(lines[6]["record"]["outcome"]["kind"], "ignored");
    assert_eq!(lines[7]["seconds"], 62.5);
    assert_eq!(lines[8]["exit_code"], 100);
    assert_eq!(lines[8]["summary"]["failed"], 1);
}

#[test]
fn every_line_reads_back_as_a_message() {
    for line in told(&Run::default()) {
        serde_json::from_value::<Message>(line).unwrap();
    }
}

#[test]
fn a_model_that_did_not_run_is_reported_at_the_end() {
    let written = Written::default();
    let mut messages = Messages::start(written.sink(), &[], &Run::default());
    let results = [testing::result("tiny", vec![NoVerdict::Interrupted.record("a::b")])];
    messages.finish(&End { results: &results, code: ExitCode::Interrupted, seconds: 1.0 });
    let text = written.text();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains(r#""not_run":"interrupted""#), "{text}");
    assert!(text.contains(r#""message":"model_finished","model":"tiny""#), "{text}");
}

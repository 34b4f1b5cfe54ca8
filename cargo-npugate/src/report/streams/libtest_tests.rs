use super::*;
use crate::report::streams::sink::testing::Written;
use crate::report::testing;
use crate::runner::{Attempt, NoVerdict};
use npugate_schema::ExitCode;
use std::sync::Arc;

/// A run that is reported to a `Libtest`.
struct Told {
    written: Written,
    libtest: Libtest,
}

impl Told {
    fn new() -> Self {
        let written = Written::default();
        Self { libtest: Libtest::new(written.sink()), written }
    }

    fn tell(&mut self, model: usize, what: Happening) {
        let plan = Arc::new(testing::plan(["tiny", "big"][model], &["kernel::a", "kernel::b"]));
        self.libtest.consume(&Update { model, plan, what });
    }

    fn started(&mut self, model: usize) {
        self.tell(model, Happening::Started { planned: Vec::new() });
    }

    fn test(&mut self, model: usize, record: &Record) {
        let attempt = Attempt::ONLY;
        self.tell(model, Happening::TestStarted { name: record.name.clone(), attempt });
        let (record, output) = (record.clone(), "oops\n".to_owned());
        self.tell(model, Happening::TestFinished { record, attempt, output });
    }

    fn finished(&mut self, model: usize, records: Vec<Record>) {
        let result = testing::result(["tiny", "big"][model], records);
        self.tell(model, Happening::Finished { result: Arc::new(result) });
    }
}

fn passed(name: &str) -> Record {
    Record::new(name, Outcome::Passed, "fine").took(0.5)
}

#[test]
fn a_suite_is_reported_in_the_format_of_libtest() {
    let mut told = Told::new();
    told.started(0);
    let failed = Record::new("kernel::a", Outcome::Failed, "cosine 0.9").took(0.25);
    told.test(0, &failed);
    let off = Record::new("kernel::b", Outcome::Ignored { reason: "long".into() }, "long");
    told.finished(0, vec![failed, off]);
    assert_eq!(
        told.written.text(),
        r#"{"type":"suite","event":"started","test_count":2}
{"type":"test","event":"started","name":"tiny$kernel::a"}
{"type":"test","event":"failed","name":"tiny$kernel::a","exec_time":0.25,"stdout":"cosine 0.9\noops\n"}
{"type":"test","event":"started","name":"tiny$kernel::b"}
{"type":"test","event":"ignored","name":"tiny$kernel::b","message":"long"}
{"type":"suite","event":"failed","passed":0,"failed":1,"ignored":1,"measured":0,"filtered_out":0,"exec_time":0.0}
"#
    );
}

#[test]
fn a_slow_test_has_a_timeout_and_a_terminated_one_has_a_reason() {
    let mut told = Told::new();
    told.started(0);
    for seconds in [60.0, 120.0] {
        told.tell(0, Happening::TestSlow { name: "kernel::a".into(), seconds });
    }
    told.test(0, &Record::new("kernel::a", Outcome::TimedOut { seconds: 180 }, "late"));
    let text = told.written.text();
    assert_eq!(
        text.matches(r#"{"type":"test","event":"timeout","name":"tiny$kernel::a"}"#).count(),
        1
    );
    assert!(text.contains(r#""stdout":"late\noops\n","reason":"time limit exceeded"}"#), "{text}");
}

#[test]
fn the_lines_of_a_suite_stay_together() {
    let mut told = Told::new();
    told.started(0);
    told.started(1);
    told.test(1, &passed("kernel::a"));
    told.test(0, &passed("kernel::a"));
    told.finished(1, vec![passed("kernel::a")]);
    assert!(!told.written.text().contains("big$"), "its turn is still to come");
    told.finished(0, vec![passed("kernel::a")]);
    let text = told.written.text();
    let names: Vec<_> =
        text.lines().map(|line| (line.contains("suite"), line.contains("big$"))).collect();
    let (suite, of_tiny, of_big) = ((true, false), (false, false), (false, true));
    assert_eq!(names, [suite, of_tiny, of_tiny, suite, suite, of_big, of_big, suite]);
}

#[test]
fn after_a_suite_the_next_one_is_reported_as_it_happens() {
    let mut told = Told::new();
    told.started(0);
    told.started(1);
    told.finished(0, Vec::new());
    told.test(1, &passed("kernel::a"));
    assert!(told.written.text().ends_with("\"name\":\"big$kernel::a\",\"exec_time\":0.5}\n"));
}

#[test]
fn a_suite_that_did_not_run_and_a_broken_gate_are_reported() {
    let mut told = Told::new();
    let record = NoVerdict::Interrupted.record("kernel::a");
    let mut result = testing::result("tiny", vec![record]);
    result.troubles.push("it died".into());
    let results = [result];
    told.libtest.finish(&End { results: &results, code: ExitCode::Setup, seconds: 0.0 });
    let text = told.written.text();
    assert!(
        text.contains(
            r#""event":"failed","name":"tiny$gate","exec_time":0.0,"stdout":"it died\n"}"#
        ),
        "{text}"
    );
    assert!(text.contains(r#""event":"failed","passed":0,"failed":2,"#), "{text}");
    // They are reported only once.
    told.libtest.finish(&End { results: &results, code: ExitCode::Setup, seconds: 0.0 });
    assert_eq!(told.written.text(), text);
}

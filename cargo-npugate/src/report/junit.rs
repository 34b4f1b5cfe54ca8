//! The JUnit report: a suite for each model, a case for each test, the metrics
//! as properties.

use super::{Run, words};
use crate::files::FileError;
use crate::runner::{ModelResult, Tried};
use npugate_schema::{FlakyResult, Metric, Outcome, Record, write_atomically};
use quick_junit::{
    FlakyOrRerun, NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite,
};
use std::{fmt::Write, path::Path, time::Duration};

/// Writes the report, whole or not at all.
///
/// # Errors
///
/// Any failure to write.
pub fn write(results: &[ModelResult], run: &Run, path: &Path) -> Result<(), FileError> {
    let write = |source| FileError::Write { path: path.to_owned(), source };
    let xml =
        report(results, run).to_string().map_err(|error| write(std::io::Error::other(error)))?;
    write_atomically(path, xml.as_bytes()).map_err(write)
}

fn report(results: &[ModelResult], run: &Run) -> Report {
    let mut report = Report::new("cargo-npugate");
    report.set_time(seconds(run.seconds));
    report.add_test_suites(results.iter().map(|result| suite(result, run)));
    report
}

fn suite(result: &ModelResult, run: &Run) -> TestSuite {
    let description = &result.description;
    let mut suite = TestSuite::new(description.model.as_str());
    suite.set_time(seconds(result.seconds));
    suite.add_property(("npugate.device", description.device.as_str()));
    suite.add_property(("npugate.configuration", description.configuration.as_str()));
    suite.add_property(("npugate.package", result.package.as_str()));
    suite.add_property(("npugate.effort", run.effort.as_str()));
    if let Some(partition) = &run.partition {
        suite.add_property(("npugate.partition", partition.as_str()));
    }
    for record in &result.records {
        suite.add_test_case(case(result, record, run));
    }
    // A gate that is broken apart from its tests is an error of the suite, but readers
    // only show errors of cases.
    for trouble in &result.troubles {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(text(trouble)).set_type("gate");
        let mut case = TestCase::new("gate", status);
        case.set_classname(description.model.as_str());
        suite.add_test_case(case);
    }
    suite
}

fn case(result: &ModelResult, record: &Record, run: &Run) -> TestCase {
    let model = &result.description.model;
    let mut status = status(record);
    let earlier = result.earlier.get(&record.name).into_iter().flatten();
    status.add_reruns(earlier.map(rerun));
    let mut case = TestCase::new(record.name.as_str(), status);
    case.set_classname(model.as_str());
    case.set_time(seconds(record.seconds));
    let output = result.outputs.get(&record.name).map_or("", String::as_str);
    let output = with_attachments(output, record);
    if !output.is_empty() {
        case.set_system_out(text(&output));
    }
    if !record.verdict.is_empty() {
        case.add_property(Property::new("npugate.verdict", text(&record.verdict)));
    }
    if !record.outcome.is_good()
        && let Some(line) = run.reruns.line(model, &result.package, record)
    {
        case.add_property(Property::new("npugate.rerun", text(&line)));
    }
    for metric in &record.metrics {
        case.add_properties(properties(metric));
    }
    case
}

fn status(record: &Record) -> TestCaseStatus {
    let mut status = match &record.outcome {
        // JUnit has no status for a waived failure.
        Outcome::Passed
        | Outcome::Waived { .. }
        | Outcome::Flaky { result: FlakyResult::Pass, .. } => return TestCaseStatus::success(),
        Outcome::Skipped { .. } | Outcome::Ignored { .. } => TestCaseStatus::skipped(),
        _ => TestCaseStatus::non_success(kind(&record.outcome)),
    };
    status.set_message(message(record)).set_type(record.outcome.to_string());
    if let Outcome::Flaky { .. } = record.outcome {
        status.set_rerun_kind(FlakyOrRerun::Flaky);
    }
    status
}

/// An attempt before the last one; the case has the status of the last.
fn rerun(tried: &Tried) -> TestRerun {
    let record = &tried.record;
    let mut rerun = TestRerun::new(kind(&record.outcome));
    rerun
        .set_message(message(record))
        .set_type(record.outcome.to_string())
        .set_time(seconds(record.seconds));
    let output = with_attachments(&tried.output, record);
    if !output.is_empty() {
        rerun.set_system_out(text(&output));
    }
    rerun
}

fn kind(outcome: &Outcome) -> NonSuccessKind {
    match outcome {
        Outcome::Invalid { .. } => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    }
}

fn message(record: &Record) -> String {
    if record.verdict.is_empty() {
        text(record.outcome.reason().unwrap_or_default())
    } else {
        text(&record.verdict)
    }
}

/// The output of a test, and its files in the form that Jenkins and GitLab look for.
fn with_attachments(output: &str, record: &Record) -> String {
    let mut output = output.to_owned();
    if !output.is_empty() && !output.ends_with('\n') && !record.attachments.is_empty() {
        output.push('\n');
    }
    for path in &record.attachments {
        // Writing to a string cannot fail.
        let _ = writeln!(output, "[[ATTACHMENT|{}]]", path.display());
    }
    output
}

/// Text without the characters that XML cannot hold but that the library accepts.
fn text(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn properties(metric: &Metric) -> impl Iterator<Item = Property> {
    let key = format!("npugate.{}", metric.key());
    let value = Property::new(key.as_str(), metric.value.to_string());
    let limit = metric.limit.map(|limit| {
        Property::new(format!("{key}.limit"), format!("{} {limit}", words::sign(metric.direction)))
    });
    let used = metric.used().map(|used| Property::new(format!("{key}.used"), format!("{used:.4}")));
    [Some(value), limit, used].into_iter().flatten()
}

/// A gate may report any number: one that is not a duration counts as zero.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Reruns;
    use crate::selection::Effort;
    use npugate_schema::{Description, Direction, Unit};

    fn record(name: &str, outcome: Outcome) -> Record {
        let metrics = vec![
            Metric::new("cosine", 0.98, Unit::Cosine, Direction::Higher).limited(0.99),
            Metric::new("max_abs", f64::NAN, Unit::Absolute, Direction::Lower).on("layer00"),
        ];
        let verdict = "cosine 0.98 < 0.99 & \u{1b}[31mred\u{1b}[0m";
        Record::new(name, outcome, verdict).measured(metrics).took(0.25)
    }

    fn results() -> [ModelResult; 1] {
        let crashed = Outcome::Crashed { reason: "signal 11 (SIGSEGV)".into() };
        [ModelResult {
            records: vec![
                record("a", Outcome::Passed),
                record("b", Outcome::Failed),
                record("c", Outcome::Regressed),
                record("d", Outcome::Invalid { reason: "no golden".into() }),
                record("e", Outcome::Skipped { reason: "no device".into() }),
                record("f", Outcome::Ignored { reason: "long".into() }),
                Record { attachments: vec!["/tmp/a b.safetensors".into()], ..record("g", crashed) },
            ],
            outputs: [("g".into(), "oops \0<&>\u{ffff}".into())].into(),
            troubles: vec!["it died after its last test".into()],
            seconds: -1.0,
            ..ModelResult::new(
                Description { configuration: "rne".into(), ..Description::new("tiny", "emu") },
                "tiny-llama",
            )
        }]
    }

    fn run() -> Run {
        Run { reruns: Reruns::With(" --full".into()), ..Run::default() }
    }

    fn read(path: &Path) -> Report {
        Report::deserialize_from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn a_report_reads_back_with_every_outcome_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/junit.xml");
        let run = Run { effort: Effort::Smoke, seconds: 2.5, ..run() };
        write(&results(), &run, &path).unwrap();
        let report = read(&path);
        assert_eq!(report.time, Some(Duration::from_millis(2500)));
        assert_eq!((report.tests, report.failures), (8, 3));
        assert_eq!((report.errors, report.skipped), (2, 2));
        let suite = &report.test_suites[0];
        assert_eq!(suite.name.as_str(), "tiny");
        let effort = suite.properties.iter().find(|one| one.name.as_str() == "npugate.effort");
        assert_eq!(effort.unwrap().value.as_str(), "smoke");
        let case = &suite.test_cases[1];
        assert_eq!(case.name.as_str(), "b");
        assert_eq!(case.classname.as_ref().unwrap().as_str(), "tiny");
        assert_eq!(case.time, Some(Duration::from_millis(250)));
        let TestCaseStatus::NonSuccess { kind, message, .. } = &case.status else { panic!() };
        assert_eq!(*kind, NonSuccessKind::Failure);
        assert_eq!(message.as_ref().unwrap().as_str(), "cosine 0.98 < 0.99 & red");
        let properties: Vec<_> = case
            .properties
            .iter()
            .map(|property| (property.name.as_str(), property.value.as_str()))
            .skip(1)
            .collect();
        assert_eq!(
            properties,
            [
                ("npugate.rerun", "cargo npugate -p tiny-llama --exact b --full"),
                ("npugate.cosine", "0.98"),
                ("npugate.cosine.limit", ">= 0.99"),
                ("npugate.cosine.used", "2.0000"),
                ("npugate.layer00.max_abs", "NaN"),
            ]
        );
        let crashed = &suite.test_cases[6];
        assert_eq!(
            crashed.system_out.as_ref().unwrap().as_str(),
            "oops <&>\u{fffd}\n[[ATTACHMENT|/tmp/a b.safetensors]]"
        );
    }

    #[test]
    fn a_report_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let error = write(&results(), &run(), &folder.path().join("file/junit.xml")).unwrap_err();
        assert_eq!(error.exit_code(), npugate_schema::ExitCode::WriteFailed);
    }

    /// A test with this outcome after one failed attempt.
    fn retried(outcome: Outcome) -> TestCaseStatus {
        let [mut result] = results();
        result.records = vec![record("a", outcome)];
        let tried = Tried { record: record("a", Outcome::Failed), output: "first\n".into() };
        result.earlier.insert("a".into(), vec![tried]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("junit.xml");
        write(&[result], &run(), &path).unwrap();
        read(&path).test_suites[0].test_cases[0].status.clone()
    }

    #[test]
    fn a_flaky_test_fails_or_passes_with_its_failed_attempts() {
        let flaky = |result| Outcome::Flaky { attempt: 2, attempts: 3, result };
        let failed = retried(flaky(FlakyResult::Fail));
        let TestCaseStatus::NonSuccess { ty, reruns, .. } = failed else { panic!("{failed:?}") };
        assert_eq!(ty.unwrap().as_str(), "flaky 2/3");
        assert_eq!((reruns.kind, reruns.runs.len()), (FlakyOrRerun::Flaky, 1));
        assert_eq!(reruns.runs[0].system_out.as_ref().unwrap().as_str(), "first");
        let passed = retried(flaky(FlakyResult::Pass));
        let TestCaseStatus::Success { flaky_runs } = passed else { panic!("{passed:?}") };
        assert_eq!(flaky_runs.len(), 1);
        assert_eq!(flaky_runs[0].kind, NonSuccessKind::Failure);
    }

    #[test]
    fn a_test_that_fails_to_the_end_has_its_earlier_attempts_as_reruns() {
        let failed = retried(Outcome::TimedOut { seconds: 60 });
        let TestCaseStatus::NonSuccess { ty, reruns, .. } = failed else { panic!("{failed:?}") };
        assert_eq!(ty.unwrap().as_str(), "timed out");
        assert_eq!((reruns.kind, reruns.runs.len()), (FlakyOrRerun::Rerun, 1));
    }
}

//! The JUnit report: a suite for each model, a case for each test, the metrics
//! as properties.

use crate::config::Effort;
use crate::error::Error;
use crate::runner::ModelResult;
use npugate_schema::{Direction, Metric, Outcome, Record, write_atomically};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use std::{path::Path, time::Duration};

/// Writes the report, whole or not at all.
///
/// # Errors
///
/// Any failure to write.
pub fn write(results: &[ModelResult], effort: Effort, path: &Path) -> Result<(), Error> {
    let write = |source| Error::Write { path: path.to_owned(), source };
    let xml =
        report(results, effort).to_string().map_err(|error| write(std::io::Error::other(error)))?;
    write_atomically(path, xml.as_bytes()).map_err(write)
}

fn report(results: &[ModelResult], effort: Effort) -> Report {
    let mut report = Report::new("cargo-npugate");
    report.set_time(seconds(results.iter().map(|result| result.seconds).sum()));
    report.add_test_suites(results.iter().map(|result| suite(result, effort)));
    report
}

fn suite(result: &ModelResult, effort: Effort) -> TestSuite {
    let description = &result.description;
    let mut suite = TestSuite::new(description.model.as_str());
    suite.set_time(seconds(result.seconds));
    suite.add_property(("npugate.device", description.device.as_str()));
    suite.add_property(("npugate.configuration", description.configuration.as_str()));
    suite.add_property(("npugate.package", result.package.as_str()));
    suite.add_property(("npugate.effort", effort.as_str()));
    for record in &result.records {
        let output = result.outputs.get(&record.name).map(String::as_str);
        suite.add_test_case(case(record, &description.model, output));
    }
    // A gate that is broken beyond its tests is an error of the suite: readers
    // know no other place for it than a case.
    for trouble in &result.troubles {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(trouble.as_str()).set_type("gate");
        let mut case = TestCase::new("gate", status);
        case.set_classname(description.model.as_str());
        suite.add_test_case(case);
    }
    suite
}

fn case(record: &Record, model: &str, output: Option<&str>) -> TestCase {
    let mut case = TestCase::new(record.name.as_str(), status(record));
    case.set_classname(model);
    case.set_time(seconds(record.seconds));
    if let Some(output) = output {
        case.set_system_out(output);
    }
    if !record.verdict.is_empty() {
        case.add_property(Property::new("npugate.verdict", record.verdict.as_str()));
    }
    for metric in &record.metrics {
        case.add_properties(properties(metric));
    }
    case
}

fn status(record: &Record) -> TestCaseStatus {
    let message = if record.verdict.is_empty() {
        record.outcome.reason().unwrap_or_default()
    } else {
        &record.verdict
    };
    let mut status = match &record.outcome {
        // JUnit has no word for a known failure that is let pass.
        Outcome::Passed | Outcome::Waived { .. } => return TestCaseStatus::success(),
        Outcome::Skipped { .. } | Outcome::Ignored { .. } => TestCaseStatus::skipped(),
        Outcome::Invalid { .. } => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    status.set_message(message).set_type(record.outcome.to_string());
    status
}

fn properties(metric: &Metric) -> impl Iterator<Item = Property> {
    let key = format!("npugate.{}", metric.key());
    let value = Property::new(key.as_str(), metric.value.to_string());
    let limit = metric.limit.map(|limit| {
        let sign = if metric.direction == Direction::Higher { ">=" } else { "<=" };
        Property::new(format!("{key}.limit"), format!("{sign} {limit}"))
    });
    let used = metric.used().map(|used| Property::new(format!("{key}.used"), format!("{used:.4}")));
    [Some(value), limit, used].into_iter().flatten()
}

/// A gate's clock is not this program's: what is no duration counts as none.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Description, Unit};

    fn record(name: &str, outcome: Outcome) -> Record {
        Record {
            name: name.into(),
            outcome,
            verdict: "cosine 0.98 < 0.99 & \u{1b}[31mred\u{1b}[0m".into(),
            metrics: vec![
                Metric::new("cosine", 0.98, Unit::Cosine, Direction::Higher).limited(0.99),
                Metric::new("max_abs", f64::NAN, Unit::Absolute, Direction::Lower).on("layer00"),
            ],
            seconds: 0.25,
            attachments: Vec::new(),
        }
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
                record("g", crashed),
            ],
            outputs: [("g".into(), "oops \0<&>".into())].into(),
            troubles: vec!["it died after its last test".into()],
            seconds: -1.0,
            ..ModelResult::new(
                Description { configuration: "rne".into(), ..Description::new("tiny", "emu") },
                "tiny-llama",
            )
        }]
    }

    #[test]
    fn a_report_reads_back_with_every_outcome_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/junit.xml");
        write(&results(), Effort::Smoke, &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let report = Report::deserialize_from_str(&text).unwrap();
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
                ("npugate.cosine", "0.98"),
                ("npugate.cosine.limit", ">= 0.99"),
                ("npugate.cosine.used", "2.0000"),
                ("npugate.layer00.max_abs", "NaN"),
            ]
        );
        assert_eq!(suite.test_cases[6].system_out.as_ref().unwrap().as_str(), "oops <&>");
    }

    #[test]
    fn a_report_that_cannot_be_written_is_an_error_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let error =
            write(&results(), Effort::Full, &folder.path().join("file/junit.xml")).unwrap_err();
        assert_eq!(error.exit_code(), npugate_schema::ExitCode::WriteFailed);
    }
}

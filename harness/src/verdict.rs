//! Turns what a check measured into a record: the outcome, and the line that says
//! by how much.

use crate::measured::{CheckResult, Measured, Stop};
use crate::schema::{Baseline, Direction, KnownFailure, Metric, Outcome, Record};

/// What is known about a test from earlier runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct History<'a> {
    /// The accepted figures of this device class.
    pub baseline: Option<&'a Baseline>,
    /// The failure that this device class is known for.
    pub known_failure: Option<&'a KnownFailure>,
}

/// Makes the record of a check. A pass is also compared with the accepted
/// baseline, and a failure with the known failure.
pub(crate) fn conclude(
    name: &str,
    result: CheckResult,
    history: History<'_>,
    seconds: f64,
) -> Record {
    let mut record = match result {
        Err(Stop::Fail(why) | Stop::Lost(why)) => Record::new(name, Outcome::Failed, why),
        Err(Stop::Invalid(reason)) => {
            Record::new(name, Outcome::Invalid { reason: reason.clone() }, reason)
        }
        Ok(Measured { metrics, note, attachments }) => {
            let (outcome, verdict) = judge(&metrics, note);
            let record = Record::new(name, outcome, verdict).measured(metrics);
            Record { attachments, ..record }
        }
    }
    .took(seconds);
    match (&record.outcome, history.known_failure) {
        (Outcome::Failed, Some(known)) if known.covers(&record) => {
            record.outcome = Outcome::Waived { reason: known.reason.clone() };
        }
        (Outcome::Failed, Some(_)) => record.verdict += "; worse than the known failure",
        (Outcome::Passed, Some(_)) => {
            record.outcome = Outcome::Failed;
            record.verdict = format!(
                "passes, but is listed as a known failure: remove it from known-failures.json ({})",
                record.verdict
            );
        }
        _ => {}
    }
    if let (Outcome::Passed, Some(baseline)) = (&record.outcome, history.baseline)
        && let Some(regression) = regression(&record, baseline)
    {
        record.outcome = Outcome::Regressed;
        record.verdict = regression;
    }
    record
}

fn judge(metrics: &[Metric], note: Option<String>) -> (Outcome, String) {
    // A NaN fails the test even without a limit: it cannot be recorded.
    let is_broken = |metric: &&Metric| !metric.within_limit() || metric.value.is_nan();
    let broken = metrics.iter().filter(is_broken).max_by(|a, b| {
        let used = |metric: &Metric| metric.used().filter(|used| !used.is_nan());
        used(a).unwrap_or(f64::INFINITY).total_cmp(&used(b).unwrap_or(f64::INFINITY))
    });
    if let Some(metric) = broken {
        let verdict = describe(metric);
        let verdict = note.map_or(verdict.clone(), |note| format!("{verdict}; {note}"));
        return (Outcome::Failed, verdict);
    }
    if let Some(note) = note {
        return (Outcome::Passed, note);
    }
    let tightest = metrics
        .iter()
        .filter_map(|metric| Some((metric, metric.used()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((metric, _)) = tightest {
        return (Outcome::Passed, describe(metric));
    }
    let reason = "the check compared nothing".to_owned();
    (Outcome::Invalid { reason: reason.clone() }, reason)
}

/// `cosine 0.99921 >= 0.99 (8 % of the allowed error used)`.
pub(crate) fn describe(metric: &Metric) -> String {
    let (key, value) = (metric.key(), metric.unit.format(metric.value));
    let Some(limit) = metric.limit else {
        let is = if metric.value.is_nan() { " is" } else { "" };
        return format!("{key}{is} {value}");
    };
    let limit_text = metric.unit.format(limit);
    let sign = match (metric.direction, metric.within_limit()) {
        (Direction::Higher, true) => ">=",
        (Direction::Higher, false) => "<",
        (_, true) => "<=",
        (_, false) => ">",
    };
    if metric.value.is_nan() {
        return format!("{key} is NaN, the limit is {limit_text}");
    }
    match metric.used() {
        Some(used) if used.is_finite() && limit.abs() > 0.0 && used >= 0.0 => {
            let percent = percent(used);
            format!("{key} {value} {sign} {limit_text} ({percent} % of the allowed error used)")
        }
        _ => format!("{key} {value} {sign} {limit_text}"),
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 1.0 || percent == 0.0 => format!("{percent:.0}"),
        percent if percent >= 0.1 => format!("{percent:.1}"),
        _ => "less than 0.1".to_owned(),
    }
}

fn regression(record: &Record, baseline: &Baseline) -> Option<String> {
    let comparison = baseline.compare(record);
    if let Some(finding) = comparison.worst() {
        let metric = record.metrics.iter().find(|metric| metric.key() == finding.metric)?;
        let show = |value| metric.unit.format(value);
        return Some(format!(
            "{} {} is worse than the accepted {} (the limit is {}); see what changed, or accept it with `cargo npugate review`",
            finding.metric,
            show(finding.new),
            show(finding.old?),
            show(finding.allowed?),
        ));
    }
    let missing = comparison.missing.first()?;
    Some(format!("the baseline has {missing}, but this run did not measure it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Unit;

    fn cosine(value: f64) -> Metric {
        Metric::new("cosine", value, Unit::Cosine, Direction::Higher).limited(0.99)
    }

    fn verdict(metrics: Vec<Metric>) -> (Outcome, String) {
        let record = conclude("x", Ok(Measured::of(metrics)), History::default(), 0.0);
        (record.outcome, record.verdict)
    }

    fn against(baseline: &Baseline) -> History<'_> {
        History { baseline: Some(baseline), known_failure: None }
    }

    #[test]
    fn a_known_failure_is_waived_while_it_lasts_and_fails_when_it_is_gone() {
        let known = KnownFailure {
            reason: "hardware exp2".into(),
            since: "2026-11-29".into(),
            metrics: [("cosine".to_owned(), crate::schema::BaselineValue(0.98))].into(),
        };
        let outcome = |value| {
            let history = History { baseline: None, known_failure: Some(&known) };
            conclude("x", Ok(Measured::of(vec![cosine(value)])), history, 0.0)
        };
        let reason = "hardware exp2".to_owned();
        assert_eq!(outcome(0.98).outcome, Outcome::Waived { reason });
        assert_eq!(outcome(0.97).outcome, Outcome::Failed, "worse than it was");
        let gone = outcome(0.999);
        assert_eq!(gone.outcome, Outcome::Failed);
        assert!(gone.verdict.contains("remove it from known-failures.json"), "{}", gone.verdict);
    }

    #[test]
    fn a_pass_says_how_much_of_the_allowed_error_it_used() {
        let (outcome, line) = verdict(vec![cosine(0.9992)]);
        assert_eq!(outcome, Outcome::Passed);
        assert_eq!(line, "cosine 0.9992 >= 0.99 (8 % of the allowed error used)");
    }

    #[test]
    fn a_failure_quotes_the_metric_that_is_furthest_beyond_its_limit() {
        let count = Metric::new("mismatches", 3.0, Unit::Count, Direction::Lower).limited(0.0);
        let (outcome, line) = verdict(vec![cosine(0.98), count]);
        assert_eq!(outcome, Outcome::Failed);
        assert_eq!(line, "mismatches 3 > 0");
    }

    #[test]
    fn nan_fails_and_is_named() {
        let (outcome, line) = verdict(vec![cosine(0.999), cosine(f64::NAN)]);
        assert_eq!(outcome, Outcome::Failed);
        assert_eq!(line, "cosine is NaN, the limit is 0.99");
    }

    #[test]
    fn nan_is_not_a_pass_even_without_a_limit() {
        let recorded = Metric::new("max_rel", f64::NAN, Unit::Ratio, Direction::Neutral);
        let (outcome, line) = verdict(vec![cosine(0.999), recorded]);
        assert_eq!((outcome, line.as_str()), (Outcome::Failed, "max_rel is NaN"));
    }

    #[test]
    fn a_check_without_limits_or_a_note_is_invalid_never_a_pass() {
        assert!(matches!(verdict(Vec::new()).0, Outcome::Invalid { .. }));
        let free = Metric::new("max_abs", 1.0, Unit::Absolute, Direction::Lower);
        assert!(matches!(verdict(vec![free]).0, Outcome::Invalid { .. }));
    }

    #[test]
    fn a_pass_that_is_worse_than_its_baseline_is_regressed() {
        let mut baseline = Baseline::empty("m", "emu");
        baseline.accept(&conclude(
            "x",
            Ok(Measured::of(vec![cosine(0.9999)])),
            History::default(),
            0.0,
        ));
        let measured = Ok(Measured::of(vec![cosine(0.9992)]));
        let record = conclude("x", measured, against(&baseline), 0.0);
        assert_eq!(record.outcome, Outcome::Regressed);
        assert!(
            record.verdict.starts_with(
                "cosine 0.9992 is worse than the accepted 0.9999 (the limit is 0.99985)"
            )
        );
    }

    #[test]
    fn a_metric_that_the_baseline_has_and_the_run_lacks_is_a_regression() {
        let slope = Metric::new("slope", 0.1, Unit::Ratio, Direction::Lower);
        let mut baseline = Baseline::empty("m", "emu");
        baseline.accept(&conclude(
            "x",
            Ok(Measured::of(vec![cosine(0.9992), slope])),
            History::default(),
            0.0,
        ));
        let measured = Ok(Measured::of(vec![cosine(0.9992)]));
        let record = conclude("x", measured, against(&baseline), 0.0);
        assert_eq!(record.outcome, Outcome::Regressed);
        assert_eq!(record.verdict, "the baseline has slope, but this run did not measure it");
    }
}

use super::*;
use jiff::civil::date;
use npugate_schema::{FlakyResult, Unit};

/// The last day of the waivers below.
fn last_day() -> Date {
    date(2027, 1, 31)
}

fn waiver(metric: &str, limit: f64) -> Waiver {
    Waiver {
        metric: metric.into(),
        limit,
        reason: format!("{metric}: the kernel rounds to floor"),
        expires: last_day(),
    }
}

/// `R_p95` may be at most 3, and the cosine must be at least 0.99.
fn record(outcome: Outcome, ratio: f64, cosine: f64) -> Record {
    let metrics = vec![
        Metric::new("R_p95", ratio, Unit::Ratio, Direction::Lower).limited(3.0),
        Metric::new("cosine", cosine, Unit::Cosine, Direction::Higher).on("layer07").limited(0.99),
        Metric::new("max_abs", 0.5, Unit::Absolute, Direction::Neutral),
    ];
    Record::new("block::layer07::R", outcome, "R_p95 > 3").measured(metrics)
}

fn failed(ratio: f64, cosine: f64) -> Record {
    record(Outcome::Failed, ratio, cosine)
}

/// The record under these waivers on their last day.
fn under(waivers: &[Waiver], mut record: Record) -> Record {
    assert_eq!(apply(&mut record, waivers, last_day()), []);
    record
}

fn is_waived(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Waived { .. })
}

#[test]
fn a_failure_within_a_waivers_limit_is_waived_and_says_by_how_much_and_until_when() {
    let record = under(&[waiver("R_p95", 4.5)], failed(4.31, 0.999));
    let reason = "R_p95: the kernel rounds to floor".to_owned();
    assert_eq!(record.outcome, Outcome::Waived { reason });
    assert_eq!(record.verdict, "R_p95 4.31 > 3, waived up to 4.5 until 2027-01-31");
}

#[test]
fn the_metrics_direction_decides_which_side_of_the_limit_is_good() {
    let waivers = [waiver("layer07.cosine", 0.97)];
    let record = under(&waivers, failed(1.0, 0.98));
    assert_eq!(record.verdict, "layer07.cosine 0.98 < 0.99, waived down to 0.97 until 2027-01-31");
    assert!(is_waived(&under(&waivers, failed(1.0, 0.97))), "the limit itself");
    assert!(!is_waived(&under(&waivers, failed(1.0, 0.969))));
}

#[test]
fn every_broken_metric_needs_a_waiver() {
    let both = [waiver("R_p95", 4.5), waiver("layer07.cosine", 0.97)];
    let record = under(&both, failed(4.0, 0.98));
    assert!(is_waived(&record));
    assert_eq!(record.verdict.matches("waived").count(), 2);
    let one = under(&both[..1], failed(4.0, 0.98));
    assert_eq!((one.outcome, one.verdict.as_str()), (Outcome::Failed, "R_p95 > 3"));
}

#[test]
fn the_key_of_a_waiver_includes_the_slice() {
    assert!(!is_waived(&under(&[waiver("cosine", 0.9)], failed(1.0, 0.98))));
}

#[test]
fn a_value_beyond_the_waivers_limit_fails_and_says_so() {
    let record = under(&[waiver("R_p95", 4.5)], failed(4.6, 0.999));
    assert_eq!(record.outcome, Outcome::Failed);
    assert_eq!(record.verdict, "R_p95 > 3; the waiver of R_p95 allows 4.5, not 4.6");
}

#[test]
fn nan_is_never_waived() {
    for limit in [4.5, f64::INFINITY, f64::NAN] {
        let record = under(&[waiver("R_p95", limit)], failed(f64::NAN, 0.999));
        assert_eq!(record.outcome, Outcome::Failed, "{limit}");
    }
    let record = under(&[waiver("layer07.cosine", f64::NEG_INFINITY)], failed(1.0, f64::NAN));
    assert_eq!(record.outcome, Outcome::Failed);
}

#[test]
fn an_expired_waiver_leaves_the_failure_and_says_since_when() {
    let mut record = failed(4.31, 0.999);
    let notes = apply(&mut record, &[waiver("R_p95", 4.5)], date(2027, 2, 1));
    assert_eq!((notes, record.outcome), (vec![], Outcome::Failed));
    assert_eq!(record.verdict, "R_p95 > 3; the waiver of R_p95 has been expired since 2027-02-01");
}

#[test]
fn a_waiver_that_applies_replaces_an_expired_one() {
    let old = Waiver { expires: date(2026, 1, 1), ..waiver("R_p95", 9.0) };
    assert!(is_waived(&under(&[old, waiver("R_p95", 4.5)], failed(4.31, 0.999))));
}

#[test]
fn a_failure_without_a_broken_limit_is_never_waived() {
    let waivers = [waiver("R_p95", 4.5), waiver("dtype", 1.0)];
    let panicked = Record::new("block::layer07::R", Outcome::Failed, "panicked");
    for record in [panicked, failed(1.0, 0.999)] {
        let after = under(&waivers, record.clone());
        assert_eq!(after, record);
    }
}

#[test]
fn only_a_failure_can_be_waived() {
    let reason = || "why".to_owned();
    for outcome in [
        Outcome::Invalid { reason: reason() },
        Outcome::Skipped { reason: reason() },
        Outcome::Ignored { reason: reason() },
        Outcome::Crashed { reason: reason() },
        Outcome::TimedOut { seconds: 60 },
        Outcome::Regressed,
        Outcome::Flaky { attempt: 2, attempts: 3, result: FlakyResult::Fail },
    ] {
        let before = record(outcome, 4.31, 0.999);
        assert_eq!(under(&[waiver("R_p95", 4.5)], before.clone()), before);
    }
}

#[test]
fn a_waiver_that_is_no_longer_needed_is_reported() {
    let mut passed = record(Outcome::Passed, 1.0, 0.999);
    let notes = apply(&mut passed, &[waiver("R_p95", 4.5), waiver("R_p59", 4.5)], last_day());
    assert_eq!(passed.outcome, Outcome::Passed);
    let notes: Vec<_> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "block::layer07::R passes without its waiver of R_p95: remove the waiver",
            "block::layer07::R has a waiver of R_p59, which it does not measure; did you mean `R_p95`?",
        ]
    );
}

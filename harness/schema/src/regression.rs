//! The rule that compares a run with its baseline: an error may grow to 1.5 times
//! the accepted one, and never counts as grown below a floor of its unit.

use crate::{BaselineValue, Direction, Metric, Record, Unit};
use std::collections::BTreeMap;

/// How much an error may grow over the accepted one.
const GROWTH: f64 = 1.5;

/// How one metric compares with its accepted value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The error shrank below the accepted one by more than the growth factor.
    Better,
    /// Within the allowed growth.
    Same,
    /// The error grew beyond the allowed growth, or is not a number.
    Worse,
    /// Nothing accepted yet.
    New,
}

/// The comparison of one metric with its accepted value.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The metric's key.
    pub metric: String,
    /// The accepted value.
    pub old: Option<f64>,
    /// The measured value.
    pub new: f64,
    /// The worst value that would still count as the same.
    pub allowed: Option<f64>,
    /// How it compares.
    pub standing: Standing,
}

/// The comparison of one record with the baseline.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Comparison {
    /// One finding for each comparable metric of the record.
    pub findings: Vec<Finding>,
    /// Metrics that the baseline has but the record lacks.
    pub missing: Vec<String>,
}

impl Comparison {
    /// The first metric that got worse.
    pub fn worst(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.standing == Standing::Worse)
    }

    /// Whether accepting this record would change the baseline in a way that a reader should
    /// see, with a metric that is new, gone, better or worse.
    pub fn is_change(&self) -> bool {
        !self.missing.is_empty()
            || self.findings.iter().any(|finding| finding.standing != Standing::Same)
    }
}

/// Compares a record with the accepted values of its test.
pub(crate) fn compare(
    record: &Record,
    accepted: Option<&BTreeMap<String, BaselineValue>>,
) -> Comparison {
    let comparable = || record.metrics.iter().filter(|metric| is_comparable(metric));
    let findings = comparable()
        .map(|metric| {
            let key = metric.key();
            let old = accepted.and_then(|values| values.get(&key)).map(|value| value.0);
            finding(metric, key, old)
        })
        .collect();
    let measured: Vec<_> = comparable().map(Metric::key).collect();
    let missing = accepted
        .into_iter()
        .flat_map(BTreeMap::keys)
        .filter(|key| !measured.contains(key))
        .cloned()
        .collect();
    Comparison { findings, missing }
}

/// Whether a metric belongs in a baseline: it has a direction, and its value does not
/// depend on the machine's speed.
pub(crate) fn is_comparable(metric: &Metric) -> bool {
    metric.direction != Direction::Neutral
        && !matches!(metric.unit, Unit::Milliseconds | Unit::PerSecond)
}

fn finding(metric: &Metric, key: String, old: Option<f64>) -> Finding {
    let new = metric.value;
    let Some(old_value) = old else {
        return Finding { metric: key, old, new, allowed: None, standing: Standing::New };
    };
    let accepted = Metric { value: old_value, ..metric.clone() }.error().unwrap_or(f64::NAN);
    let error = metric.error().unwrap_or(f64::NAN);
    let allowed = (accepted * GROWTH).max(floor(metric.unit));
    let standing = if !(error <= allowed) {
        Standing::Worse
    } else if error * GROWTH < accepted && accepted > floor(metric.unit) {
        Standing::Better
    } else {
        Standing::Same
    };
    let allowed = Some(value_of(allowed, metric.unit, metric.direction));
    Finding { metric: key, old, new, allowed, standing }
}

/// The error below which a change is not worth a reader's time.
fn floor(unit: Unit) -> f64 {
    match unit {
        // One more flipped element or position is within the noise of a chaotic system;
        // checks that allow none have a limit of zero themselves.
        Unit::Count => 1.0,
        // The scale of correct outputs scatters by this much between two
        // implementations of the same arithmetic; a tenth of the gates' limit.
        Unit::ScaleError => 2e-3,
        // Chance alone gives 0.016 over 4,096 elements.
        Unit::Bias => 2e-2,
        // 120 dB, the rounding of f32 itself; in a cosine, an angle of a
        // thousandth.
        Unit::Cosine | Unit::Decibel | Unit::Ratio | Unit::Absolute | Unit::Nats => 1e-6,
        Unit::Milliseconds | Unit::PerSecond => 0.0,
    }
}

fn value_of(error: f64, unit: Unit, direction: Direction) -> f64 {
    match (direction, unit) {
        (Direction::Higher, Unit::Decibel) => -20.0 * error.log10(),
        (Direction::Higher, _) => 1.0 - error,
        (Direction::Lower | Direction::Neutral, _) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(value: f64) -> Metric {
        Metric::new("cosine", value, Unit::Cosine, Direction::Higher)
    }

    fn standing(accepted: &Metric, measured: &Metric) -> Standing {
        finding(measured, measured.key(), Some(accepted.value)).standing
    }

    #[test]
    fn an_error_may_grow_by_half_and_no_more() {
        assert_eq!(standing(&cosine(0.999), &cosine(0.9986)), Standing::Same);
        assert_eq!(standing(&cosine(0.999), &cosine(0.9984)), Standing::Worse);
        assert_eq!(standing(&cosine(0.999), &cosine(0.9995)), Standing::Better);
    }

    #[test]
    fn nan_is_worse_than_any_baseline() {
        assert_eq!(standing(&cosine(0.5), &cosine(f64::NAN)), Standing::Worse);
    }

    #[test]
    fn a_perfect_baseline_still_has_its_floor() {
        assert_eq!(standing(&cosine(1.0), &cosine(1.0 - 1e-7)), Standing::Same);
        assert_eq!(standing(&cosine(1.0), &cosine(1.0 - 1e-5)), Standing::Worse);
    }
}

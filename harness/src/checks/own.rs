//! Runs an adapter's own checks, and makes sure that they can judge.

use crate::measured::{CheckResult, Measured, Stop};
use crate::schema::{Direction, Metric};
use crate::session::Session;
use std::collections::BTreeSet;

/// Runs one of the adapter's own checks.
pub(crate) fn run(session: &mut Session, index: usize) -> CheckResult {
    let check = session.checks.get(index).cloned();
    let check = check
        .ok_or_else(|| Stop::Invalid(format!("the adapter has no check {index} of its own")))?;
    let measured = check.run(session)?;
    judged(&measured)?;
    Ok(measured)
}

/// Checks that there is something to judge: a metric with a limit, and no two metrics of
/// one name. A built-in check may pass with nothing but a note; an adapter's own check
/// must show what it compared.
fn judged(measured: &Measured) -> Result<(), Stop> {
    let metrics = &measured.metrics;
    let is_gated = metrics
        .iter()
        .any(|metric| metric.limit.is_some() && metric.direction != Direction::Neutral);
    if !is_gated {
        return Err(Stop::Invalid(
            "the check measured nothing that has a limit and a direction, so it cannot judge"
                .to_owned(),
        ));
    }
    let mut seen = BTreeSet::new();
    match metrics.iter().map(Metric::key).find(|key| !seen.insert(key.clone())) {
        None => Ok(()),
        Some(key) => Err(Stop::Invalid(format!(
            "the check measured two metrics named {key}: rename one, or give them different slices"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Unit;

    fn metric(name: &str, direction: Direction) -> Metric {
        Metric::new(name, 1.0, Unit::Count, direction)
    }

    #[test]
    fn a_check_without_a_gated_metric_is_invalid_whatever_its_note_says() {
        let lower = metric("x", Direction::Lower);
        assert_eq!(judged(&Measured::of([lower.clone().limited(2.0)])), Ok(()));
        for measured in [
            Measured::default().noted("all is well"),
            Measured::of([lower]).noted("all is well"),
            // A limit without a direction is never broken.
            Measured::of([metric("x", Direction::Neutral).limited(0.0)]),
        ] {
            assert!(matches!(judged(&measured), Err(Stop::Invalid(_))), "{measured:?}");
        }
    }

    #[test]
    fn two_metrics_with_one_name_are_refused() {
        let limited = metric("x", Direction::Lower).limited(2.0);
        let twice = Measured::of([limited.clone(), limited.clone()]);
        assert!(matches!(judged(&twice), Err(Stop::Invalid(_))));
        assert_eq!(judged(&Measured::of([limited.clone(), limited.on("layer00")])), Ok(()));
    }
}

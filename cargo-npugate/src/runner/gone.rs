//! Tests that vanished: the baseline has them, the gate lists them no more. A
//! kernel shape or a layer that is dropped takes its tests with it, and a run
//! without them is not to look like a success.

use npugate_schema::{Baseline, Description, ListedTest, Outcome, Record};
use std::collections::BTreeSet;

/// What is said of such a test.
const VERDICT: &str = "is in the baseline, and the adapter no longer has it";

/// The names in the baseline that a full listing lacks. A baseline that cannot
/// be read has none here: it is an error when the run is compared with it.
pub fn find(description: &Description, listed: &[ListedTest]) -> Vec<String> {
    let Description { model, device, fixtures, .. } = description;
    let load = |fixtures| Baseline::load(&Baseline::path(fixtures, device), model, device);
    let baseline = fixtures.as_deref().and_then(|fixtures| load(fixtures).ok().flatten());
    let listed: BTreeSet<_> = listed.iter().map(|test| test.name.as_str()).collect();
    let accepted = baseline.into_iter().flat_map(|baseline| baseline.tests.into_keys());
    accepted.filter(|name| !listed.contains(name.as_str())).collect()
}

/// The record of a test that is gone: worse than its baseline, without figures.
pub fn record(name: &str) -> Record {
    Record {
        name: name.to_owned(),
        outcome: Outcome::Regressed,
        verdict: VERDICT.to_owned(),
        metrics: Vec::new(),
        seconds: 0.0,
        attachments: Vec::new(),
    }
}

/// Whether a record is of a test that is gone.
pub fn is_gone(record: &Record) -> bool {
    record.outcome == Outcome::Regressed && record.verdict == VERDICT
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Direction, Ignore, Metric, Unit};
    use std::path::Path;

    fn description(fixtures: &Path) -> Description {
        Description { fixtures: Some(fixtures.to_owned()), ..Description::new("tiny", "emu") }
    }

    #[test]
    fn a_test_is_gone_if_the_baseline_alone_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let description = description(folder.path());
        let listed = [
            ListedTest::new("a"),
            ListedTest::new("b").ignored(Some(Ignore::Full)),
            ListedTest::new("new"),
        ];
        assert_eq!(find(&description, &listed), [""; 0], "there is no baseline");
        let mut baseline = Baseline::empty("tiny", "emu");
        for name in ["a", "b", "c"] {
            let metric = Metric::new("cosine", 0.999, Unit::Cosine, Direction::Higher);
            baseline.accept(&Record { metrics: vec![metric], ..record(name) });
        }
        let path = Baseline::path(folder.path(), "emu");
        baseline.save(&path).unwrap();
        assert_eq!(find(&description, &listed), ["c"]);
        std::fs::write(path, "{").unwrap();
        assert_eq!(find(&description, &listed), [""; 0], "it is no baseline");
    }

    #[test]
    fn a_test_that_is_gone_is_told_from_one_that_got_worse() {
        let gone = record("a");
        assert!(is_gone(&gone));
        assert!(!is_gone(&Record { verdict: "cosine 0.9, was 0.99".into(), ..gone.clone() }));
        assert!(!is_gone(&Record { outcome: Outcome::Passed, ..gone }));
    }
}

//! Tests that are gone: the baseline has them, but the gate no longer lists them.

use npugate_schema::{Baseline, Description, ListedTest};
use std::collections::BTreeSet;

/// The names in the baseline that a full listing lacks. A baseline that cannot be read has
/// none here: it is reported when the run is compared with it.
pub fn find(description: &Description, listed: &[ListedTest]) -> Vec<String> {
    let Description { model, device, fixtures, .. } = description;
    let load = |fixtures| Baseline::load(&Baseline::path(fixtures, device), model, device);
    let baseline = fixtures.as_deref().and_then(|fixtures| load(fixtures).ok().flatten());
    let listed: BTreeSet<_> = listed.iter().map(|test| test.name.as_str()).collect();
    let accepted = baseline.into_iter().flat_map(|baseline| baseline.tests.into_keys());
    accepted.filter(|name| !listed.contains(name.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Direction, Ignore, Metric, Outcome, Record, Unit};
    use std::path::Path;

    fn description(fixtures: &Path) -> Description {
        Description { fixtures: Some(fixtures.to_owned()), ..Description::new("tiny", "emu") }
    }

    #[test]
    fn a_test_is_gone_if_only_the_baseline_has_it() {
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
            baseline.accept(&Record::new(name, Outcome::Passed, "").measured(vec![metric]));
        }
        let path = Baseline::path(folder.path(), "emu");
        baseline.save(&path).unwrap();
        assert_eq!(find(&description, &listed), ["c"]);
        std::fs::write(path, "{").unwrap();
        assert_eq!(find(&description, &listed), [""; 0], "it is not a baseline");
    }
}

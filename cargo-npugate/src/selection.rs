//! Which tests of a gate binary run, and the arguments that select them.

mod choice;

pub use choice::{Effort, History, Ignored, Matching, Rerun, TestSet, WeightsNeed};

use crate::filter::Expression;
use crate::partition::Partition;
use npugate_schema::Phase;
use std::{collections::BTreeSet, ffi::OsString};

/// Which tests of a gate binary run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Texts to look for in names; every test matches if there are none.
    pub filters: Vec<String>,
    /// Texts whose tests are skipped.
    pub skip: Vec<String>,
    /// Expressions, of which a test must match at least one, besides the filters; every test
    /// matches if there are none.
    pub expressions: Vec<Expression>,
    /// How filters match.
    pub matching: Matching,
    /// Phases; all if there are none.
    pub phases: Vec<Phase>,
    /// The short or the long set.
    pub set: TestSet,
    /// How much of each shape the kernel tests cover.
    pub effort: Effort,
    /// Whether figures are compared with the baseline.
    pub history: History,
    /// What to do about missing weights.
    pub weights: WeightsNeed,
    /// What to do with tests that are off by default.
    pub ignored: Ignored,
    /// Whether earlier runs decide which tests run.
    pub rerun: Rerun,
    /// The part of the run that remains after all filters; all of it if there is none.
    pub partition: Option<Partition>,
}

impl Selection {
    /// The arguments for a gate binary.
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        args.extend(self.filters.iter().map(OsString::from));
        for text in &self.skip {
            args.extend(["--skip".into(), text.into()]);
        }
        if self.matching == Matching::Exact {
            args.push("--exact".into());
        }
        for phase in &self.phases {
            args.extend(["--phase".into(), phase.as_str().into()]);
        }
        args.extend(self.mode_args());
        args
    }

    /// The arguments that run exactly these tests, whatever the filters are.
    pub fn exact_args<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<OsString> {
        let mut args: Vec<OsString> = names.into_iter().map(OsString::from).collect();
        args.push("--exact".into());
        args.extend(self.mode_args());
        args
    }

    /// The arguments that list at least these tests. A gate refuses an exact name that it
    /// lacks, so exact names, which may belong to other models, are not passed on.
    /// [`Selection::admits`] leaves out the other tests.
    pub fn list_args(&self) -> Vec<OsString> {
        let all_names = Self { filters: Vec::new(), skip: Vec::new(), ..self.clone() };
        match self.matching {
            Matching::Substring => self.to_args(),
            Matching::Exact => Self { matching: Matching::Substring, ..all_names }.to_args(),
        }
    }

    /// Whether a run takes every test that a gate has, including those that are off. This also
    /// holds for a part of a run, because the other parts take the rest.
    pub fn lists_everything(&self) -> bool {
        self.lists_all_names() && self.expressions.is_empty() && self.rerun == Rerun::Everything
    }

    /// Whether a gate lists every test that it has.
    pub fn lists_all_names(&self) -> bool {
        self.filters.is_empty()
            && self.skip.is_empty()
            && self.phases.is_empty()
            && self.ignored != Ignored::Only
    }

    /// Whether a run takes every test that a gate lists.
    pub fn takes_all_listed(&self) -> bool {
        self.expressions.is_empty() && self.rerun == Rerun::Everything && self.partition.is_none()
    }

    /// Whether a listed test is selected.
    pub fn admits(&self, name: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|one| one == name);
        match self.matching {
            Matching::Substring => true,
            Matching::Exact => {
                (self.filters.is_empty() || among(&self.filters)) && !among(&self.skip)
            }
        }
    }

    /// The first exact name that none of these tests has.
    pub fn unmatched<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Option<&str> {
        if self.matching == Matching::Substring {
            return None;
        }
        let found: BTreeSet<_> = names.into_iter().collect();
        self.filters.iter().map(String::as_str).find(|name| !found.contains(name))
    }

    fn mode_args(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        if self.set == TestSet::Full {
            args.push("--full".into());
        }
        if self.effort == Effort::Smoke {
            args.push("--smoke".into());
        }
        if self.history == History::Ignore {
            args.extend(["--baseline".into(), "ignore".into()]);
        }
        if self.weights == WeightsNeed::Required {
            args.push("--require-weights".into());
        }
        match self.ignored {
            Ignored::Skip => {}
            Ignored::Only => args.push("--ignored".into()),
            Ignored::Include => args.push("--include-ignored".into()),
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_passed_on_as_arguments() {
        let selection = Selection {
            filters: vec!["gemm".into(), "softmax".into()],
            skip: vec!["high".into()],
            phases: vec![Phase::Kernel],
            set: TestSet::Full,
            effort: Effort::Smoke,
            weights: WeightsNeed::Required,
            ..Selection::default()
        };
        let line = selection.to_args().join(" ".as_ref());
        assert_eq!(
            line,
            "gemm softmax --skip high --phase kernel --full --smoke --require-weights"
        );
    }

    #[test]
    fn exact_names_are_matched_after_listing() {
        let selection = Selection {
            filters: vec!["a".into(), "b".into()],
            skip: vec!["b".into()],
            matching: Matching::Exact,
            ..Selection::default()
        };
        assert_eq!(selection.list_args(), [""; 0]);
        assert!(selection.admits("a") && !selection.admits("b") && !selection.admits("ab"));
        assert_eq!(selection.unmatched(["a"]), Some("b"));
        assert_eq!(selection.unmatched(["a", "b"]), None);
        assert_eq!(selection.list_args(), Selection::default().list_args());
    }

    #[test]
    fn a_selection_that_leaves_a_test_out_does_not_list_everything() {
        let everything = Selection::default();
        assert!(everything.lists_everything());
        assert!(Selection { set: TestSet::Full, ..everything.clone() }.lists_everything());
        let partition = "hash:1/2".parse().ok();
        assert!(Selection { partition, ..everything.clone() }.lists_everything());
        for narrow in [
            Selection { filters: vec!["a".into()], ..everything.clone() },
            Selection { skip: vec!["a".into()], ..everything.clone() },
            Selection { phases: vec![Phase::Kernel], ..everything.clone() },
            Selection { ignored: Ignored::Only, ..everything.clone() },
            Selection { expressions: vec!["all()".parse().unwrap()], ..everything.clone() },
            Selection { rerun: Rerun::Failed, ..everything.clone() },
        ] {
            assert!(!narrow.lists_everything(), "{narrow:?}");
        }
    }

    #[test]
    fn naming_tests_keeps_the_mode_and_drops_the_filters() {
        let selection = Selection {
            filters: vec!["gemm".into()],
            skip: vec!["high".into()],
            phases: vec![Phase::Kernel],
            effort: Effort::Smoke,
            ignored: Ignored::Include,
            ..Selection::default()
        };
        let line = selection.exact_args(["a", "b"]).join(" ".as_ref());
        assert_eq!(line, "a b --exact --smoke --include-ignored");
    }
}

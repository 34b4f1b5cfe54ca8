//! Which planned tests a command line selects.

use super::error::CliError;
use super::resolved::{Selection, TestSet, WeightsNeed};
use crate::Planned;
use crate::schema::Ignore;
use libtest_mimic::Trial;

/// A test that the command line selects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'a> {
    pub name: &'a str,
    pub planned: &'a Planned,
    /// Why it is off by default; `None` for a test that is on, or that `--full` or
    /// `--require-weights` turned on.
    pub off: Option<&'a Ignore>,
    pub fate: Fate,
}

/// What becomes of a selected test in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Run,
    /// It is counted and does not run.
    Ignore,
}

/// The outcome of a selection.
#[derive(Clone, Debug)]
pub(super) struct Choice<'a> {
    /// In the order of the plan.
    pub tests: Vec<Selected<'a>>,
    /// How many planned tests were left out.
    pub filtered_out: usize,
    /// A name given with `--exact` that selected nothing.
    pub unmatched: Option<Unmatched>,
}

/// A name given with `--exact` that selected nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unmatched {
    /// No test has it.
    Unknown(String),
    /// A test has it, and other arguments exclude it.
    LeftOut(String),
}

impl Choice<'_> {
    /// An error if a name given with `--exact` selected nothing: a run must not pass
    /// because the test that it was started for is not there.
    pub fn matched(&self) -> Result<(), CliError> {
        match self.unmatched.clone() {
            None => Ok(()),
            Some(Unmatched::Unknown(name)) => Err(CliError::NoSuchTest(name)),
            Some(Unmatched::LeftOut(name)) => Err(CliError::LeftOut(name)),
        }
    }
}

impl Selection {
    /// Chooses among the planned tests, as libtest-mimic does for each filter.
    pub fn choose<'a>(&self, plan: &'a [Planned]) -> Choice<'a> {
        let tests: Vec<_> = plan.iter().filter_map(|test| self.select(test)).collect();
        let selected = |name: &str| tests.iter().any(|test| test.name == name);
        let mut exact = self.arguments.iter().filter(|arguments| arguments.exact);
        let unmatched = exact.find_map(|arguments| {
            let name = arguments.filter.clone().filter(|name| !selected(name))?;
            let exists = plan.iter().any(|test| test.name == name);
            Some(if exists { Unmatched::LeftOut(name) } else { Unmatched::Unknown(name) })
        });
        Choice { filtered_out: plan.len() - tests.len(), tests, unmatched }
    }

    fn select<'a>(&self, test: &'a Planned) -> Option<Selected<'a>> {
        if !self.phases.is_empty() && !self.phases.contains(&test.phase) {
            return None;
        }
        let off = test.ignore.as_ref().filter(|ignore| match ignore {
            Ignore::Full => self.set == TestSet::Short,
            Ignore::NoWeights { .. } => self.weights == WeightsNeed::Optional,
        });
        // A name and a flag for libtest-mimic to judge: it never runs this trial.
        let trial = Trial::test(&*test.name, || Ok(())).with_ignored_flag(off.is_some());
        let arguments = self.arguments.iter().find(|args| !args.is_filtered_out(&trial))?;
        let fate = if arguments.is_ignored(&trial) { Fate::Ignore } else { Fate::Run };
        Some(Selected { name: &test.name, planned: test, off, fate })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::resolved::Resolved;
    use crate::cli::typed::{Format, Typed};
    use crate::cli::{list, run};
    use libtest_mimic::{Arguments, Conclusion};
    use std::ffi::OsString;

    /// Five tests: one of the long set, one without weights.
    pub fn plan() -> Vec<Planned> {
        let test = Planned::unreal;
        let no_weights = Ignore::NoWeights { command: "cargo npugate fetch toy".to_owned() };
        vec![
            test("kernel::gemm::16x16x16::high", None),
            test("kernel::gemm::16x16x16", None),
            test("kernel::softmax::4x16", None),
            test("block::layer00::cosine", Some(no_weights)),
            test("tokens::base::p07", Some(Ignore::Full)),
        ]
    }

    pub fn resolve(line: &str) -> Resolved {
        let typed = Typed::parse_args(line.split_whitespace().map(OsString::from)).unwrap();
        Resolved::new(typed, &|_| None).unwrap()
    }

    fn names(line: &str) -> Vec<String> {
        let plan = plan();
        let choice = resolve(line).selection.choose(&plan);
        choice.tests.iter().map(|test| test.name.to_owned()).collect()
    }

    fn running(line: &str) -> usize {
        let plan = plan();
        let choice = resolve(line).selection.choose(&plan);
        choice.tests.iter().filter(|test| test.fate == Fate::Run).count()
    }

    fn unmatched(line: &str) -> Option<Unmatched> {
        resolve(line).selection.choose(&plan()).unmatched
    }

    #[test]
    fn filters_are_ored_and_skips_take_away() {
        assert_eq!(names("softmax tokens"), ["kernel::softmax::4x16", "tokens::base::p07"]);
        assert_eq!(names("gemm --skip high"), ["kernel::gemm::16x16x16"]);
        assert_eq!(names("nothing").len(), 0);
        assert_eq!(names("").len(), 5);
    }

    #[test]
    fn phases_and_filters_are_anded() {
        assert_eq!(names("--phase kernel 4x16"), ["kernel::softmax::4x16"]);
        assert_eq!(
            names("--phase block --phase tokens"),
            ["block::layer00::cosine", "tokens::base::p07"]
        );
    }

    #[test]
    fn the_long_set_and_missing_weights_are_turned_on_one_by_one() {
        assert_eq!(running(""), 3);
        assert_eq!(running("--full"), 4);
        assert_eq!(running("--require-weights"), 4);
        assert_eq!(running("--full --require-weights"), 5);
        assert_eq!(running("--include-ignored"), 5);
        assert_eq!((running("--ignored"), names("--ignored").len()), (2, 2));
        assert_eq!(names("--ignored --full"), ["block::layer00::cosine"]);
    }

    #[test]
    fn an_exact_name_selects_one_test_even_where_it_begins_another() {
        assert_eq!(names("--exact kernel::gemm::16x16x16"), ["kernel::gemm::16x16x16"]);
        assert_eq!(unmatched("--exact kernel::gemm::16x16x16"), None);
    }

    #[test]
    fn an_exact_name_that_selects_nothing_is_reported() {
        let unknown = |name: &str| Some(Unmatched::Unknown(name.to_owned()));
        assert_eq!(unmatched("--exact kernel::gemm"), unknown("kernel::gemm"));
        assert_eq!(unmatched("--exact kernel::softmax::4x16 typo"), unknown("typo"));
        assert_eq!(
            unmatched("--exact kernel::softmax::4x16 --ignored"),
            Some(Unmatched::LeftOut("kernel::softmax::4x16".to_owned()))
        );
        assert_eq!(unmatched("typo"), None);
    }

    #[test]
    fn benchmarks_alone_run_no_test() {
        assert_eq!((running("--bench"), names("--bench").len()), (0, 5));
        assert_eq!(running("--bench --test"), 3);
    }

    /// What libtest-mimic itself lists and counts for a command line that its own
    /// parser reads.
    fn mimic(line: &str, logfile: &std::path::Path) -> (String, Conclusion) {
        let args = std::iter::once("gate").chain(line.split_whitespace());
        let arguments = Arguments {
            logfile: Some(logfile.to_string_lossy().into_owned()),
            ..Arguments::from_iter(args)
        };
        let trials = plan().into_iter().map(|test| {
            let fails = test.name.ends_with("high");
            let run = move || if fails { Err("failed".into()) } else { Ok(()) };
            Trial::test(test.name, run).with_ignored_flag(test.ignore.is_some())
        });
        let trials: Vec<_> = trials.collect();
        let conclusion = libtest_mimic::run(&arguments, trials);
        (std::fs::read_to_string(logfile).unwrap(), conclusion)
    }

    const LINES: [&str; 12] = [
        "",
        "gemm",
        "nothing",
        "--skip gemm",
        "--skip gemm --skip block",
        "--ignored",
        "--include-ignored",
        "--exact kernel::gemm::16x16x16",
        "--ignored tokens",
        "--include-ignored --skip 16",
        "--bench",
        "--exact --skip kernel::gemm::16x16x16",
    ];

    #[test]
    fn lists_are_those_of_libtest_mimic() {
        let logfile = tempfile::NamedTempFile::new().unwrap();
        for line in LINES {
            let (expected, _) = mimic(&format!("--list {line}"), logfile.path());
            let (plan, mut out) = (plan(), Vec::new());
            let choice = resolve(line).selection.choose(&plan);
            list::print(&mut out, "toy", &choice.tests, Format::Terse).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn conclusions_are_those_of_libtest_mimic() {
        let logfile = tempfile::NamedTempFile::new().unwrap();
        for line in LINES {
            let (_, expected) = mimic(&format!("--test-threads 1 {line}"), logfile.path());
            let (conclusion, ..) = run::tests::run(line, |name| !name.ends_with("high"));
            assert_eq!(conclusion, expected, "{line}");
        }
    }
}

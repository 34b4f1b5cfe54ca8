//! What was typed: the command line taken apart, without any I/O and without a
//! look at the environment.

use super::error::UsageError;
use super::flag::{self, Flag, Kind};
use crate::schema::Phase;
use crate::{Baselines, Effort};
use std::{ffi::OsString, num::NonZero, path::PathBuf, str::FromStr};

/// What was typed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Typed {
    /// What to do in place of running tests.
    pub actions: Vec<Action>,
    pub filters: Vec<String>,
    pub skip: Vec<String>,
    pub matching: Matching,
    pub ignored: Vec<Ignored>,
    pub phases: Vec<Phase>,
    pub set: TestSet,
    pub weights: WeightsNeed,
    pub benchmarks: Option<Benchmarks>,
    pub device: Option<String>,
    /// `key=value` pairs, in the order in which they were typed.
    pub settings: Vec<String>,
    pub effort: Effort,
    pub baselines: Option<Baselines>,
    pub fixtures: Option<PathBuf>,
    pub evidence: Option<PathBuf>,
    pub format: Option<Format>,
    pub quiet: Quiet,
    pub verdicts: Verdicts,
    pub color: Option<Color>,
    pub times: Times,
    pub logfile: Option<PathBuf>,
    pub on_failure: OnFailure,
    pub shuffle: Option<Shuffle>,
    pub max_tokens: Option<NonZero<usize>>,
}

/// What to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Help,
    List,
    Describe,
    /// Generate text after a prompt.
    Generate(String),
}

impl Action {
    /// The flag that asks for it.
    pub fn flag(&self) -> &'static str {
        match self {
            Self::Help => "--help",
            Self::List => "--list",
            Self::Describe => "--describe",
            Self::Generate(_) => "--generate",
        }
    }
}

/// How filters match names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Matching {
    #[default]
    Substring,
    Exact,
}

/// What happens to tests that are off by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Ignored {
    #[default]
    Skip,
    Only,
    Include,
}

/// Which set of tests is on by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum TestSet {
    #[default]
    Short,
    Full,
}

/// What missing weights do to the tests that need them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum WeightsNeed {
    /// They are ignored.
    #[default]
    Optional,
    /// They run, and so fail.
    Required,
}

/// What `--bench` and `--test` come to, as `cargo bench` passes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Benchmarks {
    /// `--test`, with or without `--bench`.
    WithTests,
    /// `--bench`: no test runs, and there are no benchmarks.
    Alone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Format {
    #[default]
    Pretty,
    Terse,
    Json,
}

impl FromStr for Format {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "pretty" => Ok(Self::Pretty),
            "terse" => Ok(Self::Terse),
            "json" => Ok(Self::Json),
            "junit" => Err("JUnit is written by `cargo npugate --junit PATH` and by cargo nextest"),
            _ => Err("it is pretty, terse or json"),
        }
    }
}

/// `--quiet`: another word for the terse format, which an explicit format
/// overrules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Quiet {
    #[default]
    No,
    Yes,
}

/// Whose verdicts are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Verdicts {
    #[default]
    Failures,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl FromStr for Color {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err("it is auto, always or never"),
        }
    }
}

/// Whether each test's time is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Times {
    #[default]
    Hidden,
    Shown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum OnFailure {
    #[default]
    Continue,
    Stop,
}

/// The order of a shuffled run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shuffle {
    /// Another one each time.
    Random,
    /// The same for the same seed.
    Seeded(u64),
}

impl Typed {
    /// Takes a command line apart, the program's name not included.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut typed = Self::default();
        let mut args = args.into_iter().map(|arg| {
            arg.into_string().map_err(|arg| UsageError::NotUtf8(arg.to_string_lossy().into_owned()))
        });
        while let Some(arg) = args.next() {
            let arg = arg?;
            if arg == "--" {
                for filter in args {
                    typed.filters.push(filter?);
                }
                break;
            }
            if let Some(long) = arg.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                let written = format!("--{name}");
                let flag = flag::by_long(name).ok_or(UsageError::UnknownFlag(arg.clone()))?;
                typed.apply(flag, written, value, &mut args)?;
            } else if let Some(shorts) = arg.strip_prefix('-').filter(|shorts| !shorts.is_empty()) {
                typed.apply_shorts(shorts, &arg, &mut args)?;
            } else {
                typed.filters.push(arg);
            }
        }
        Ok(typed)
    }

    /// `-q`, `-qh`, `-Zunstable-options`, or `-Z unstable-options`.
    fn apply_shorts(
        &mut self,
        shorts: &str,
        arg: &str,
        args: &mut dyn Iterator<Item = Result<String, UsageError>>,
    ) -> Result<(), UsageError> {
        for (index, short) in shorts.char_indices() {
            let flag = flag::by_short(short).ok_or(UsageError::UnknownFlag(arg.to_owned()))?;
            let written = format!("-{short}");
            if let Kind::Value { .. } = flag.kind {
                let rest = &shorts[index + short.len_utf8()..];
                let value = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
                return self.apply(flag, written, value, args);
            }
            self.apply(flag, written, None, args)?;
        }
        Ok(())
    }

    fn apply(
        &mut self,
        flag: &Flag,
        written: String,
        value: Option<String>,
        args: &mut dyn Iterator<Item = Result<String, UsageError>>,
    ) -> Result<(), UsageError> {
        match (flag.kind, value) {
            (Kind::Switch(_), Some(_)) => Err(UsageError::UnexpectedValue(written)),
            (Kind::Switch(set), None) => {
                set(self);
                Ok(())
            }
            (Kind::Value { name, set }, value) => {
                let value = match value {
                    Some(value) => value,
                    None => args
                        .next()
                        .ok_or(UsageError::MissingValue { flag: written.clone(), value: name })??,
                };
                set(self, &value).map_err(|reason| UsageError::Value {
                    flag: written,
                    value,
                    reason,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Typed, UsageError> {
        Typed::parse(line.split_whitespace().map(OsString::from))
    }

    fn error(line: &str) -> String {
        parse(line).unwrap_err().to_string()
    }

    /// `--help` of a test binary that rustc 1.95 built, flag by flag.
    #[test]
    fn every_flag_of_libtest_is_accepted() {
        const LIBTEST: &[&str] = &[
            "--include-ignored",
            "--ignored",
            "--force-run-in-process",
            "--exclude-should-panic",
            "--test",
            "--bench",
            "--list",
            "--fail-fast",
            "--help",
            "-h",
            "--logfile PATH",
            "--no-capture",
            "--nocapture",
            "--test-threads 4",
            "--skip FILTER",
            "--quiet",
            "-q",
            "--exact",
            "--color auto",
            "--color always",
            "--color never",
            "--format pretty",
            "--format terse",
            "--format json",
            "--show-output",
            "-Z unstable-options",
            "-Zunstable-options",
            "--report-time",
            "--ensure-time",
            "--shuffle",
            "--shuffle-seed 42",
        ];
        for line in LIBTEST {
            assert!(parse(line).is_ok(), "{line}");
            let joined = line.replacen(' ', "=", 1);
            assert!(parse(&joined).is_ok() || joined.starts_with("-Z"), "{joined}");
        }
    }

    #[test]
    fn flags_and_filters_may_be_mixed_and_repeated() {
        let typed = parse("gemm --skip high --exact softmax --skip=low -- --odd -q").unwrap();
        assert_eq!(typed.filters, ["gemm", "softmax", "--odd", "-q"]);
        assert_eq!(typed.skip, ["high", "low"]);
        assert_eq!(typed.matching, Matching::Exact);
        assert_eq!(typed.quiet, Quiet::No);
    }

    #[test]
    fn a_lone_dash_is_a_filter_and_short_flags_may_be_joined() {
        assert_eq!(parse("-").unwrap().filters, ["-"]);
        let typed = parse("-qZunstable-options -hq").unwrap();
        assert_eq!((typed.quiet, typed.actions), (Quiet::Yes, vec![Action::Help]));
    }

    #[test]
    fn a_value_may_begin_with_a_dash_or_hold_an_equals_sign() {
        let typed = parse("--skip --exact --set attention=host --toolchain=2026-06").unwrap();
        assert_eq!(typed.skip, ["--exact"]);
        assert_eq!(typed.settings, ["attention=host", "toolchain=2026-06"]);
    }

    #[test]
    fn test_and_bench_together_run_tests_in_either_order() {
        for line in ["--test --bench", "--bench --test"] {
            assert_eq!(parse(line).unwrap().benchmarks, Some(Benchmarks::WithTests));
        }
        assert_eq!(parse("--bench").unwrap().benchmarks, Some(Benchmarks::Alone));
    }

    #[test]
    fn each_mistake_has_its_sentence() {
        assert!(error("--bogus").starts_with("unknown flag `--bogus`: "));
        assert!(error("-x").starts_with("unknown flag `-x`: "));
        assert!(error("--=x").starts_with("unknown flag `--=x`: "));
        assert_eq!(error("--skip"), "`--skip` needs a value: write `--skip TEXT`");
        assert_eq!(error("-Z"), "`-Z` needs a value: write `-Z unstable-options`");
        assert_eq!(error("--exact=yes"), "`--exact` takes no value");
        assert_eq!(
            error("--test-threads 0"),
            "`--test-threads` cannot be `0`: it is a whole number from 1 up"
        );
        assert!(error("--phase blok").contains("`blok` is not a phase; the phases are goldens, "));
        assert!(error("--format junit").contains("cargo npugate --junit PATH"));
    }

    #[cfg(unix)]
    #[test]
    fn arguments_are_utf8() {
        use std::os::unix::ffi::OsStringExt;
        let error = Typed::parse([OsString::from_vec(vec![b'a', 0xff])]).unwrap_err();
        assert!(matches!(error, UsageError::NotUtf8(_)));
    }
}

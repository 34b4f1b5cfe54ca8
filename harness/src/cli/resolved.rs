//! What was typed together with what the environment says: ready to act on.

use super::error::UsageError;
use super::flag::positive;
use super::marks::Marks;
use super::typed::{
    Action, Benchmarks, Color, Format, Ignored, Matching, OnFailure, Quiet, Shuffle, TestSet,
    Times, Typed, Verdicts, WeightsNeed,
};
use crate::schema::{DEVICE_LOCK, EVENTS_VAR, LOCK_HELD_VAR, LOCK_VAR, MARKS_VAR, Phase};
use crate::{Baselines, Context, Settings};
use libtest_mimic::Arguments;
use std::{num::NonZero, path::PathBuf, str::FromStr};

/// How many tokens `--generate` generates by default.
const MAX_TOKENS: usize = 64;

/// Looks a variable up; `None` where it is not set.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What to do, with everything decided.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub task: Task,
    /// The device's name is empty where the adapter's default is wanted.
    pub context: Context,
    pub selection: Selection,
    pub run: RunOptions,
    pub output: OutputOptions,
    /// Where events are appended.
    pub events: Option<PathBuf>,
    /// Whether the output is marked by test.
    pub marks: Marks,
    /// Who sees to it that nobody else uses an exclusive device.
    pub lock: Lock,
}

/// Who sees to it that nobody else uses an exclusive device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Lock {
    /// This process, with a lock on a file.
    Take(PathBuf),
    /// Its caller.
    Leave,
}

/// What to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Task {
    Run,
    List,
    Describe,
    Help,
    Generate { prompt: String, max_tokens: usize },
}

/// Which tests.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// libtest-mimic takes one filter, libtest takes many: a test is selected
    /// if one of these lets it through. They differ in their filter only, and
    /// there is always one.
    pub arguments: Vec<Arguments>,
    pub phases: Vec<Phase>,
    pub set: TestSet,
    pub weights: WeightsNeed,
}

/// How tests run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RunOptions {
    pub shuffle: Option<Shuffle>,
    pub on_failure: OnFailure,
    /// A file for a line on each test.
    pub logfile: Option<PathBuf>,
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OutputOptions {
    pub format: Format,
    pub verdicts: Verdicts,
    pub times: Times,
    pub color: Color,
}

impl Resolved {
    /// Fills in what was not typed. What was typed wins over the environment.
    pub fn new(typed: Typed, env: Environment<'_>) -> Result<Self, UsageError> {
        // Validated as libtest does, though a device runs one test at a time.
        parsed(env, "RUST_TEST_THREADS", positive)?;
        Ok(Self {
            task: task(&typed)?,
            context: context(&typed, env)?,
            selection: selection(&typed, env)?,
            run: RunOptions {
                shuffle: shuffle(&typed, env)?,
                on_failure: typed.on_failure,
                logfile: typed.logfile,
            },
            output: OutputOptions {
                format: match (typed.format, typed.quiet) {
                    (Some(format), _) => format,
                    (None, Quiet::Yes) => Format::Terse,
                    (None, Quiet::No) => Format::Pretty,
                },
                verdicts: if is_on(env, "RUST_TEST_NOCAPTURE") {
                    Verdicts::All
                } else {
                    typed.verdicts
                },
                times: typed.times,
                color: match typed.color {
                    Some(color) => color,
                    None => parsed(env, "CARGO_TERM_COLOR", Color::from_str)?.unwrap_or_default(),
                },
            },
            events: variable(env, EVENTS_VAR).map(PathBuf::from),
            marks: if is_on(env, MARKS_VAR) { Marks::Set } else { Marks::Unset },
            lock: if is_on(env, LOCK_HELD_VAR) {
                Lock::Leave
            } else {
                Lock::Take(variable(env, LOCK_VAR).unwrap_or_else(|| DEVICE_LOCK.into()).into())
            },
        })
    }
}

/// Help wins over everything; of the rest there may be one.
fn task(typed: &Typed) -> Result<Task, UsageError> {
    if typed.actions.contains(&Action::Help) {
        return Ok(Task::Help);
    }
    let Some(action) = typed.actions.last() else { return Ok(Task::Run) };
    let other = typed.actions.iter().find(|other| other.flag() != action.flag());
    if let Some(other) = other {
        return Err(UsageError::Conflict(other.flag(), action.flag()));
    }
    Ok(match action {
        Action::Help => Task::Help,
        Action::List => Task::List,
        Action::Describe => Task::Describe,
        Action::Generate(prompt) => Task::Generate {
            prompt: prompt.clone(),
            max_tokens: typed.max_tokens.map_or(MAX_TOKENS, NonZero::get),
        },
    })
}

fn context(typed: &Typed, env: Environment<'_>) -> Result<Context, UsageError> {
    // A later setting replaces an earlier one.
    let mut settings: Vec<_> = variable(env, "NPUGATE_SETTINGS").into_iter().collect();
    settings.extend(typed.settings.iter().cloned());
    let folder = |typed: &Option<PathBuf>, name| {
        typed.clone().or_else(|| variable(env, name).map(PathBuf::from))
    };
    Ok(Context {
        device: typed
            .device
            .clone()
            .or_else(|| variable(env, "NPUGATE_DEVICE"))
            .unwrap_or_default(),
        settings: settings.join(",").parse::<Settings>()?,
        effort: typed.effort,
        baselines: match typed.baselines {
            Some(baselines) => baselines,
            None => parsed(env, "NPUGATE_BASELINE", Baselines::from_str)?.unwrap_or_default(),
        },
        fixtures: folder(&typed.fixtures, "NPUGATE_FIXTURES"),
        evidence: folder(&typed.evidence, "NPUGATE_EVIDENCE"),
    })
}

fn selection(typed: &Typed, env: Environment<'_>) -> Result<Selection, UsageError> {
    let ignored = typed.ignored.first().copied().unwrap_or_default();
    if typed.ignored.iter().any(|other| *other != ignored) {
        return Err(UsageError::Conflict("--ignored", "--include-ignored"));
    }
    let with_filter = |filter: Option<&String>| Arguments {
        filter: filter.cloned(),
        skip: typed.skip.clone(),
        exact: typed.matching == Matching::Exact,
        ignored: ignored == Ignored::Only,
        include_ignored: ignored == Ignored::Include,
        bench: typed.benchmarks == Some(Benchmarks::Alone),
        ..Arguments::default()
    };
    let filters = typed.filters.iter().map(|filter| with_filter(Some(filter)));
    let set = if is_on(env, "NPUGATE_FULL") { TestSet::Full } else { typed.set };
    let weights =
        if is_on(env, "NPUGATE_REQUIRE_WEIGHTS") { WeightsNeed::Required } else { typed.weights };
    let mut arguments: Vec<_> = filters.collect();
    if arguments.is_empty() {
        arguments.push(with_filter(None));
    }
    Ok(Selection { arguments, phases: typed.phases.clone(), set, weights })
}

fn shuffle(typed: &Typed, env: Environment<'_>) -> Result<Option<Shuffle>, UsageError> {
    if typed.shuffle.is_some() {
        return Ok(typed.shuffle);
    }
    let seed = parsed(env, "RUST_TEST_SHUFFLE_SEED", u64::from_str)?.map(Shuffle::Seeded);
    let random = is_on(env, "RUST_TEST_SHUFFLE").then_some(Shuffle::Random);
    Ok(seed.or(random))
}

/// A variable that is set to something.
fn variable(env: Environment<'_>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.is_empty())
}

/// A variable as a switch: `0` is off, as libtest has it.
fn is_on(env: Environment<'_>, name: &str) -> bool {
    variable(env, name).is_some_and(|value| value != "0")
}

/// A variable's value, parsed.
fn parsed<T, E: ToString>(
    env: Environment<'_>,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, UsageError> {
    let Some(value) = variable(env, name) else { return Ok(None) };
    parse(&value).map(Some).map_err(|reason| UsageError::Value {
        flag: name.to_owned(),
        value: value.clone(),
        reason: reason.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn resolve(line: &str, env: &[(&str, &str)]) -> Result<Resolved, UsageError> {
        let typed = Typed::parse(line.split_whitespace().map(OsString::from))?;
        Resolved::new(typed, &|name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn what_was_typed_wins_over_the_environment() {
        let env = [("NPUGATE_DEVICE", "xrt"), ("NPUGATE_SETTINGS", "a=1,b=2")];
        let context = resolve("--device emu --set a=3 --toolchain v", &env).unwrap().context;
        assert_eq!(context.device, "emu");
        assert_eq!(context.settings.to_string(), "a=3,b=2,toolchain=v");
        let context = resolve("", &env).unwrap().context;
        assert_eq!(context.device, "xrt");
        assert_eq!(context.settings.to_string(), "a=1,b=2");
    }

    #[test]
    fn a_setting_that_is_no_pair_is_a_usage_error() {
        assert!(matches!(resolve("--set attention", &[]), Err(UsageError::Settings(_))));
    }

    #[test]
    fn switches_in_the_environment_are_off_when_empty_or_zero() {
        let set = |value| resolve("", &[("NPUGATE_FULL", value)]).unwrap().selection.set;
        assert_eq!((set("1"), set("0"), set("")), (TestSet::Full, TestSet::Short, TestSet::Short));
    }

    #[test]
    fn folders_come_from_the_flag_or_the_environment() {
        let env = [("NPUGATE_FIXTURES", "env"), ("NPUGATE_EVIDENCE", "")];
        let context = resolve("", &env).unwrap().context;
        assert_eq!((context.fixtures, context.evidence), (Some("env".into()), None));
        let context = resolve("--fixtures typed --evidence e", &env).unwrap().context;
        assert_eq!((context.fixtures, context.evidence), (Some("typed".into()), Some("e".into())));
    }

    #[test]
    fn threads_are_validated_wherever_they_come_from() {
        assert!(resolve("", &[("RUST_TEST_THREADS", "1")]).is_ok());
        let error = resolve("", &[("RUST_TEST_THREADS", "0")]).unwrap_err().to_string();
        assert_eq!(error, "`RUST_TEST_THREADS` cannot be `0`: it is a whole number from 1 up");
    }

    #[test]
    fn help_wins_and_other_tasks_exclude_each_other() {
        assert_eq!(resolve("--list --help", &[]).unwrap().task, Task::Help);
        assert_eq!(resolve("--list --list", &[]).unwrap().task, Task::List);
        let error = resolve("--list --describe", &[]).unwrap_err().to_string();
        assert_eq!(error, "`--list` and `--describe` exclude each other");
        let error = resolve("--ignored --include-ignored", &[]).unwrap_err().to_string();
        assert_eq!(error, "`--ignored` and `--include-ignored` exclude each other");
    }

    #[test]
    fn an_explicit_format_overrules_quiet() {
        let format = |line| resolve(line, &[]).unwrap().output.format;
        assert_eq!(format(""), Format::Pretty);
        assert_eq!(format("-q"), Format::Terse);
        assert_eq!(format("-q --format json"), Format::Json);
    }

    #[test]
    fn each_filter_is_one_set_of_arguments() {
        let selection = resolve("a b --skip c", &[]).unwrap().selection;
        let filters: Vec<_> = selection.arguments.iter().map(|a| a.filter.clone()).collect();
        assert_eq!(filters, [Some("a".into()), Some("b".into())]);
        assert!(selection.arguments.iter().all(|arguments| arguments.skip == ["c"]));
        assert_eq!(resolve("", &[]).unwrap().selection.arguments.len(), 1);
    }

    #[test]
    fn the_seed_of_a_shuffle_may_come_from_the_environment() {
        let env = [("RUST_TEST_SHUFFLE", "1"), ("RUST_TEST_SHUFFLE_SEED", "7")];
        let shuffle = |line, env: &[_]| resolve(line, env).unwrap().run.shuffle;
        assert_eq!(shuffle("", &env), Some(Shuffle::Seeded(7)));
        assert_eq!(shuffle("", &env[..1]), Some(Shuffle::Random));
        assert_eq!(shuffle("--shuffle-seed 9", &env), Some(Shuffle::Seeded(9)));
        assert_eq!(shuffle("", &[]), None);
    }
}

//! What was typed together with what the environment says: ready to act on.

use super::marks::Marks;
use super::typed::{self, Format, Printing, Running, Tests, Typed, positive};
use super::usage::UsageError;
use crate::schema::{DEVICE_LOCK, EVENTS_VAR, LOCK_HELD_VAR, LOCK_VAR, MARKS_VAR, Phase};
use crate::{Baselines, Context, Effort, Settings};
use clap::{ColorChoice, ValueEnum};
use libtest_mimic::Arguments;
use std::{path::PathBuf, str::FromStr};

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
    /// Who ensures that nobody else uses an exclusive device.
    pub lock: Lock,
}

/// Who ensures that nobody else uses an exclusive device.
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

/// Which set of tests is on by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TestSet {
    Short,
    Full,
}

/// What missing weights do to the tests that need them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WeightsNeed {
    /// They are ignored.
    Optional,
    /// They run, and so fail.
    Required,
}

/// How tests run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RunOptions {
    pub shuffle: Option<Shuffle>,
    pub on_failure: OnFailure,
    /// A file that gets a line for each test.
    pub logfile: Option<PathBuf>,
}

/// The order of a shuffled run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shuffle {
    /// A different order each time.
    Random,
    /// The same order for the same seed.
    Seeded(u64),
}

/// What a failure does to the rest of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OnFailure {
    Continue,
    Stop,
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OutputOptions {
    pub format: Format,
    pub verdicts: Verdicts,
    pub times: Times,
    pub color: ColorChoice,
}

/// Whose verdicts are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdicts {
    Failures,
    All,
}

/// Whether each test's time is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Times {
    Hidden,
    Shown,
}

impl Resolved {
    /// Fills in what was not typed. What was typed wins over the environment.
    pub fn new(typed: Typed, env: Environment<'_>) -> Result<Self, UsageError> {
        // Validated as libtest does, though a device runs one test at a time.
        parsed(env, "RUST_TEST_THREADS", positive)?;
        let run = RunOptions {
            shuffle: shuffle(&typed.running, env)?,
            on_failure: if typed.running.fail_fast { OnFailure::Stop } else { OnFailure::Continue },
            logfile: typed.printing.logfile.clone(),
        };
        let runs_tests = typed.libtest.test || !typed.libtest.bench;
        Ok(Self {
            task: task(typed.task),
            context: context(typed.running, env)?,
            selection: selection(typed.filters, typed.tests, runs_tests, env),
            run,
            output: output(&typed.printing, env)?,
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

/// Help wins over everything; of the rest clap lets one through.
fn task(typed: typed::Task) -> Task {
    match typed.generate {
        _ if typed.help => Task::Help,
        _ if typed.list => Task::List,
        _ if typed.describe => Task::Describe,
        Some(prompt) => Task::Generate { prompt, max_tokens: typed.max_tokens.get() },
        None => Task::Run,
    }
}

fn context(typed: Running, env: Environment<'_>) -> Result<Context, UsageError> {
    // A later setting replaces an earlier one.
    let mut settings: Vec<_> = variable(env, "NPUGATE_SETTINGS").into_iter().collect();
    settings.extend(typed.settings);
    settings.extend(typed.toolchain.map(|version| format!("toolchain={version}")));
    let folder =
        |typed: Option<PathBuf>, name| typed.or_else(|| variable(env, name).map(PathBuf::from));
    Ok(Context {
        device: typed.device.or_else(|| variable(env, "NPUGATE_DEVICE")).unwrap_or_default(),
        settings: settings.join(",").parse::<Settings>()?,
        effort: if typed.smoke { Effort::Smoke } else { Effort::default() },
        baselines: match typed.baseline {
            Some(baselines) => baselines,
            None => parsed(env, "NPUGATE_BASELINE", Baselines::from_str)?.unwrap_or_default(),
        },
        fixtures: folder(typed.fixtures, "NPUGATE_FIXTURES"),
        evidence: folder(typed.evidence, "NPUGATE_EVIDENCE"),
    })
}

fn selection(
    filters: Vec<String>,
    typed: Tests,
    runs_tests: bool,
    env: Environment<'_>,
) -> Selection {
    let all = Arguments {
        skip: typed.skip,
        exact: typed.exact,
        ignored: typed.ignored,
        include_ignored: typed.include_ignored,
        bench: !runs_tests,
        ..Arguments::default()
    };
    let with = |filter| Arguments { filter: Some(filter), ..all.clone() };
    let mut arguments: Vec<_> = filters.into_iter().map(with).collect();
    if arguments.is_empty() {
        arguments.push(all);
    }
    let full = typed.full || is_on(env, "NPUGATE_FULL");
    let required = typed.require_weights || is_on(env, "NPUGATE_REQUIRE_WEIGHTS");
    Selection {
        arguments,
        phases: typed.phases,
        set: if full { TestSet::Full } else { TestSet::Short },
        weights: if required { WeightsNeed::Required } else { WeightsNeed::Optional },
    }
}

fn shuffle(typed: &Running, env: Environment<'_>) -> Result<Option<Shuffle>, UsageError> {
    let seed = match typed.shuffle_seed {
        None => parsed(env, "RUST_TEST_SHUFFLE_SEED", u64::from_str)?,
        seed => seed,
    };
    let random = typed.shuffle || is_on(env, "RUST_TEST_SHUFFLE");
    Ok(seed.map(Shuffle::Seeded).or(random.then_some(Shuffle::Random)))
}

fn output(typed: &Printing, env: Environment<'_>) -> Result<OutputOptions, UsageError> {
    let all = typed.show_output || is_on(env, "RUST_TEST_NOCAPTURE");
    let color = |text: &str| {
        <ColorChoice as ValueEnum>::from_str(text, false)
            .map_err(|_| "it must be one of auto, always, never")
    };
    Ok(OutputOptions {
        format: match typed.format {
            Some(format) => format,
            None if typed.quiet => Format::Terse,
            None => Format::Pretty,
        },
        verdicts: if all { Verdicts::All } else { Verdicts::Failures },
        times: if typed.report_time { Times::Shown } else { Times::Hidden },
        color: match typed.color {
            Some(color) => color,
            None => parsed(env, "CARGO_TERM_COLOR", color)?.unwrap_or(ColorChoice::Auto),
        },
    })
}

/// A variable that is set to something.
fn variable(env: Environment<'_>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.is_empty())
}

/// A variable as a switch: `0` is off, as in libtest.
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
mod tests;

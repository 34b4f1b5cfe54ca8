//! From the tests that gates list to the tests that a run takes: the part of the selection
//! that a gate cannot do itself, because it needs expressions, earlier runs or all models.

use crate::filter::{Facts, FilterError};
use crate::last_failed::{FailedTest, FailedTests};
use crate::selection::{Matching, Rerun, Selection};
use crate::text;
use npugate_schema::{ExitCode, ListedTest};
use std::collections::BTreeSet;

/// Why a selection leaves nothing to run.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    #[error("{0}")]
    NoTests(String),
    #[error(transparent)]
    Filter(#[from] FilterError),
}

impl ChooseError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoTests(_) => ExitCode::NoTests,
            Self::Filter(_) => ExitCode::BadFilter,
        }
    }
}

/// A model's tests to choose from.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidates {
    /// The adapter's package.
    pub package: String,
    /// The model.
    pub model: String,
    /// The tests that the gate lists.
    pub tests: Vec<ListedTest>,
    /// The names that only its baseline still has.
    pub gone: Vec<String>,
}

impl Candidates {
    /// What is known about each test.
    pub fn facts(&self) -> impl Iterator<Item = Facts<'_>> {
        let (model, package) = (&self.model, &self.package);
        self.tests.iter().map(move |test| Facts { model, package, test })
    }

    fn retain(&mut self, keep: impl Fn(&Facts<'_>) -> bool) {
        let Self { model, package, tests, .. } = self;
        tests.retain(|test| keep(&Facts { model, package, test }));
    }

    fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.gone.is_empty()
    }
}

/// Keeps the tests that a selection takes, of all models of the run together.
///
/// # Errors
///
/// An exact name or an expression that asks for what no test has, or a shard
/// without tests.
pub fn choose(candidates: &mut [Candidates], selection: &Selection) -> Result<(), ChooseError> {
    let names = candidates.iter().flat_map(|one| &one.tests).map(|test| test.name.as_str());
    if let Some(name) = selection.unmatched(names) {
        return Err(ChooseError::NoTests(format!(
            "no test is called `{name}`; `cargo npugate list` lists all tests"
        )));
    }
    take_described(candidates, selection)?;
    take_shard(candidates, selection)
}

/// Keeps the tests that match an expression.
fn take_described(candidates: &mut [Candidates], selection: &Selection) -> Result<(), ChooseError> {
    let expressions = &selection.expressions;
    let facts = || candidates.iter().flat_map(Candidates::facts);
    // An expression cannot be checked without tests, which is another error.
    if expressions.is_empty() || facts().next().is_none() {
        return Ok(());
    }
    expressions.iter().try_for_each(|expression| expression.check(facts()))?;
    for one in candidates {
        one.retain(|facts| expressions.iter().any(|expression| expression.matches(facts)));
    }
    Ok(())
}

/// Keeps the requested part of the run. Tests that run and tests that are off are dealt out
/// separately, so that a shard has its share of both.
fn take_shard(candidates: &mut [Candidates], selection: &Selection) -> Result<(), ChooseError> {
    let Some(partition) = selection.partition else { return Ok(()) };
    let before = candidates.iter().map(|one| one.tests.len()).sum::<usize>();
    let (mut running, mut off) = (0, 0);
    for Candidates { model, tests, gone, .. } in candidates.iter_mut() {
        tests.retain(|test| {
            let place = if selection.ignored.runs(test) { &mut running } else { &mut off };
            *place += 1;
            partition.has(model, &test.name, *place - 1)
        });
        gone.retain(|name| partition.tells(model, name));
    }
    if before > 0 && candidates.iter().all(Candidates::is_empty) {
        let tests = text::count(before, "test");
        let message = format!("{partition} has none of the {tests} of this run: use fewer shards");
        return Err(ChooseError::NoTests(message));
    }
    Ok(())
}

/// Keeps the tests that failed before, and returns those of them that no longer exist. Call
/// this before [`choose`], with the tests that the gates list.
///
/// # Errors
///
/// No test failed before.
pub fn take_failed(
    candidates: &mut [Candidates],
    selection: &Selection,
    failed: &FailedTests,
) -> Result<FailedTests, ChooseError> {
    if selection.rerun == Rerun::Everything {
        return Ok(FailedTests::new());
    }
    if failed.is_empty() {
        let message = "no test is known to have failed, so there is nothing to rerun";
        return Err(ChooseError::NoTests(message.to_owned()));
    }
    let listed: BTreeSet<_> = candidates
        .iter()
        .flat_map(Candidates::facts)
        .map(|facts| FailedTest::new(facts.package, facts.model, &facts.test.name))
        .collect();
    let models: BTreeSet<_> =
        candidates.iter().map(|one| (one.package.clone(), one.model.clone())).collect();
    for one in candidates {
        one.retain(|facts| {
            failed.contains(&FailedTest::new(facts.package, facts.model, &facts.test.name))
        });
    }
    // A test that a filter leaves out, or whose model was not selected, may still exist.
    let told = |test: &&FailedTest| {
        !listed.contains(*test) && models.contains(&(test.package.clone(), test.model.clone()))
    };
    let all_listed = selection.lists_all_names();
    Ok(failed.iter().filter(|_| all_listed).filter(told).cloned().collect())
}

/// The message for a selection that leaves no test.
pub fn no_match(selection: &Selection) -> String {
    let Selection { filters, expressions, .. } = selection;
    let hint = match filters.as_slice() {
        [word] if expressions.is_empty() => close_command(word),
        _ => None,
    };
    let quoted = |texts: Vec<String>| {
        let quoted = texts.into_iter().map(|text| format!("`{text}`"));
        quoted.collect::<Vec<_>>().join(" or ")
    };
    let mut asked = Vec::new();
    if !filters.is_empty() {
        asked.push(quoted(filters.clone()));
    }
    if !expressions.is_empty() {
        asked.push(quoted(expressions.iter().map(ToString::to_string).collect()));
    }
    let asked = asked.join(" and ");
    match (hint, selection.rerun) {
        (Some(command), _) => {
            format!("no test matches {asked}; did you mean the command `cargo npugate {command}`?")
        }
        (None, Rerun::Failed) => "none of the tests that failed before is selected".to_owned(),
        (None, _) if asked.is_empty() => {
            "no test matches; `cargo npugate list` lists all tests".to_owned()
        }
        (None, _) => {
            format!("no test matches {asked}; `cargo npugate list` lists all tests")
        }
    }
}

/// The command that a filter is close to: a mistyped command is parsed as a filter.
fn close_command(word: &str) -> Option<String> {
    let command = crate::cli::command();
    let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    similar::get_close_matches(word, &names, 1, 0.7).first().map(ToString::to_string)
}

/// The selection to run the chosen tests with: if a gate would list more than those, it is
/// given their names.
pub fn to_run(selection: &Selection) -> Selection {
    if selection.takes_all_listed() {
        return selection.clone();
    }
    Selection { matching: Matching::Exact, ..selection.clone() }
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;

//! Which tests an adapter has. They are named without touching weights or a device.

use crate::check::{Needs, Set};
use crate::checks::own;
use crate::checks::prompts::DEFAULT_PROMPTS;
use crate::checks::table::{BUILT_IN, BuiltIn, Run, RunAt, Tests};
use crate::measured::CheckResult;
use crate::schema::{Attribute, Attributes, CheckId, Ignore, Phase, TimeLimits, WeightsSource};
use crate::session::Session;
use std::collections::BTreeSet;

/// A test that could run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Planned {
    /// Its stable name.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
    /// Why it does not run by default, if it does not.
    pub ignore: Option<Ignore>,
    /// What is known about it besides its name.
    pub attributes: Attributes,
    /// How long it may take before it counts as slow or hanging.
    pub limits: TimeLimits,
    job: Job,
}

/// What runs a test.
#[derive(Clone, Copy, Debug)]
enum Job {
    Whole(Run),
    At(RunAt, usize),
}

/// A test has a name that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// One of the adapter's own checks does not have the name of a test.
    #[error(
        "the check `{0}` is not named `PHASE::NAME` with letters, digits, `_`, `-` and `.`; give it a name such as `speed::decode`"
    )]
    Form(String),
    /// One of the adapter's own checks has the name of a built-in check's test.
    #[error("`{name}` is the name of a test of the built-in check {check}; rename the check")]
    BuiltIn {
        /// The name.
        name: String,
        /// The check that it would be mistaken for.
        check: CheckId,
    },
    /// Two tests have the same name, so that no filter could distinguish them.
    #[error("two tests are named `{0}`; rename one of them")]
    Twice(String),
}

impl Planned {
    /// Runs the test.
    pub(crate) fn run(&self, session: &mut Session) -> CheckResult {
        match self.job {
            Job::Whole(run) => run(session),
            Job::At(run, index) => run(session, index),
        }
    }
}

/// Plans the tests of a session's adapter, in the order of the phases.
///
/// # Errors
///
/// A name that is not a test's, or that two tests share.
pub(crate) fn plan(session: &mut Session) -> Result<Vec<Planned>, PlanError> {
    let mut plan = Plan { tests: Vec::new(), no_weights: no_weights(session) };
    for check in &BUILT_IN {
        plan.built_in(check, session);
    }
    plan.own(session)?;
    let mut tests = plan.tests;
    tests.sort_by_key(|(order, test)| (test.phase, *order));
    let tests: Vec<_> = tests.into_iter().map(|(_, test)| test).collect();
    let mut seen = BTreeSet::new();
    match tests.iter().find(|test| !seen.insert(test.name.as_str())) {
        None => Ok(tests),
        Some(test) => Err(PlanError::Twice(test.name.clone())),
    }
}

struct Plan {
    /// Each with its place among the tests of its phase; tests with the same place stay in
    /// the order in which they were added.
    tests: Vec<(usize, Planned)>,
    no_weights: Option<Ignore>,
}

/// The place of an adapter's own checks in a phase that has other tests.
const LAST: usize = usize::MAX;

impl Plan {
    /// Adds the tests of a built-in check. Without a model, those that need one are left
    /// out.
    fn built_in(&mut self, check: &BuiltIn, session: &mut Session) {
        let pattern = check.id.pattern();
        if let Tests::Kernels(run) = check.tests {
            for (index, kernel) in session.kernels.iter().enumerate() {
                let (name, attributes) = (kernel.id().to_string(), kernel.attributes());
                self.add(check, name, Set::Default, attributes, Job::At(run, index));
            }
            return;
        }
        let Some(model) = session.adapter.model() else { return };
        match check.tests {
            Tests::Kernels(_) => {}
            Tests::One(set, run) => {
                self.add(check, pattern.test(""), set, Attributes::new(), Job::Whole(run));
            }
            Tests::Words(words) => {
                for (word, set, run) in words {
                    self.add(check, pattern.test(word), *set, Attributes::new(), Job::Whole(*run));
                }
            }
            Tests::Layers(run) => {
                for layer in 0..model.config().n_layers {
                    let attribute = ("layer".to_owned(), Attribute::Number(layer as u64));
                    let job = Job::At(run, layer);
                    self.add(check, pattern.layer(layer), Set::Default, [attribute].into(), job);
                    if let Some((order, _)) = self.tests.last_mut() {
                        *order = layer;
                    }
                }
            }
            Tests::Prompts(run) => {
                for (index, prompt) in prompts(session).iter().enumerate() {
                    let set = if index < DEFAULT_PROMPTS { Set::Default } else { Set::Full };
                    let attribute = ("prompt".to_owned(), prompt.as_str().into());
                    let job = Job::At(run, index);
                    self.add(check, pattern.test(prompt), set, [attribute].into(), job);
                }
            }
        }
    }

    fn add(&mut self, check: &BuiltIn, name: String, set: Set, attributes: Attributes, job: Job) {
        let ignore = self.ignore(check.needs, set);
        let (phase, limits) = (check.id.phase(), check.limits);
        self.tests.push((0, Planned { name, phase, ignore, attributes, limits, job }));
    }

    /// Adds the adapter's own checks.
    fn own(&mut self, session: &Session) -> Result<(), PlanError> {
        for (index, check) in session.checks.iter().enumerate() {
            let name = check.name();
            if !is_test_name(&name) {
                return Err(PlanError::Form(name));
            }
            if let Some(check) = CheckId::of(&name) {
                return Err(PlanError::BuiltIn { name, check });
            }
            let test = Planned {
                phase: Phase::of(&name),
                name,
                ignore: self.ignore(check.needs(), check.set()),
                attributes: check.attributes(),
                limits: check.limits(),
                job: Job::At(own::run, index),
            };
            self.tests.push((LAST, test));
        }
        Ok(())
    }

    /// Why a test does not run by default. Missing weights are the more useful reason.
    fn ignore(&self, needs: Needs, set: Set) -> Option<Ignore> {
        let no_weights = self.no_weights.clone().filter(|_| needs == Needs::Weights);
        no_weights.or((set == Set::Full).then_some(Ignore::Full))
    }
}

/// Whether a name has two parts or more, made of characters that never need quotes.
fn is_test_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        !part.is_empty() && part.chars().all(plain)
    };
    name.contains("::") && name.split("::").all(is_part)
}

/// The names of the prompts. Without a manifest there are none to list, and
/// `goldens::complete` says why.
fn prompts(session: &mut Session) -> Vec<String> {
    session.goldens().map_or_else(
        |_| Vec::new(),
        |goldens| goldens.manifest().prompts.iter().map(|prompt| prompt.name.clone()).collect(),
    )
}

/// The reason to ignore the tests that need weights, if there are no weights. Missing
/// weights that should be under version control are never a reason.
fn no_weights(session: &Session) -> Option<Ignore> {
    let weights = session.adapter.model()?.weights();
    let bundled = matches!(weights.source, WeightsSource::Bundled { .. });
    if bundled || weights.path.is_some() {
        return None;
    }
    Some(Ignore::NoWeights { command: format!("cargo npugate fetch {}", session.adapter.name()) })
}

#[cfg(test)]
impl Planned {
    /// A test that cannot run.
    pub(crate) fn unreal(name: &str, ignore: Option<Ignore>) -> Self {
        let run: Run = |_| Err(crate::measured::Stop::Invalid("this test is not real".to_owned()));
        Self {
            name: name.to_owned(),
            phase: Phase::of(name),
            ignore,
            attributes: Attributes::new(),
            limits: TimeLimits::default(),
            job: Job::Whole(run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_parts_that_need_no_quotes() {
        assert!(is_test_name("speed::decode") && is_test_name("a::b-1::c.d_e"));
        for name in ["", "speed", "::a", "a::", "a:: b", "a::b,c", "a::b\n", "a::é"] {
            assert!(!is_test_name(name), "{name}");
        }
    }
}

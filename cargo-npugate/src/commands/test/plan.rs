//! From the tests that gates list to the tests that run, and how each runs.

use crate::choose::{self, Candidates};
use crate::commands::prepare;
use crate::config::{Config, MissingDevice, Test};
use crate::error::Error;
use crate::filter::Facts;
use crate::profile::Profile;
use crate::runner::{ModelPlan, PlannedTest, gone};
use crate::selection::{Effort, History};
use crate::shell::Shell;
use crate::workspace::Workspace;
use std::sync::Arc;

/// Builds the gates, asks them for their tests, and chooses.
///
/// # Errors
///
/// A gate that cannot be built or does not list, or no test at all.
pub(super) fn plan(
    test: &Test,
    profile: &Profile,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<Vec<Arc<ModelPlan>>, Error> {
    let selection = &test.selection;
    let (mut models, mut candidates) = (Vec::new(), Vec::new());
    for gate in prepare::gates(config, workspace, shell)? {
        let description = prepare::describe(&gate, test.network, config, shell)?;
        let tests = gate.list(selection, &config.device)?.tests;
        // What a filter leaves out is not gone.
        let all = selection.lists_everything()
            && selection.effort == Effort::Full
            && selection.history == History::Compare;
        let gone = if all { gone::find(&description, &tests) } else { Vec::new() };
        let package = gate.adapter.package.clone();
        candidates.push(Candidates { package, model: description.model.clone(), tests, gone });
        models.push((gate, description));
    }
    // A partial run cannot tell whether a rule matches no test.
    if selection.lists_everything() && models.len() == workspace.adapters.len() {
        let facts: Vec<_> = candidates.iter().flat_map(Candidates::facts).collect();
        for note in profile.unmatched(&facts) {
            shell.warn(note);
        }
    }
    prepare::choose(&mut candidates, selection, workspace, shell)?;
    let plans = models.into_iter().zip(candidates).filter_map(|((gate, description), chosen)| {
        let tests: Vec<_> = chosen.facts().map(|facts| planned(&facts, profile, test)).collect();
        let gone = chosen.gone;
        let any = !tests.is_empty() || !gone.is_empty();
        any.then(|| Arc::new(ModelPlan { gate, description, tests, gone }))
    });
    let plans: Vec<_> = plans.collect();
    if plans.is_empty() { Err(Error::NoTests(choose::no_match(selection))) } else { Ok(plans) }
}

/// A test and how it is run: as typed, or else as the profile says, or else as its
/// check declares.
fn planned(facts: &Facts<'_>, profile: &Profile, test: &Test) -> PlannedTest {
    let listed = facts.test.clone();
    let (settings, waivers) = profile.test(facts, listed.limits);
    PlannedTest { listed, settings: test.settings.apply(settings), waivers }
}

/// Models whose tests are selected.
#[derive(Debug)]
pub(super) struct Sorted {
    /// Their device is present, as far as can be seen without opening it.
    pub(super) runnable: Vec<Arc<ModelPlan>>,
    /// Their device is missing.
    pub(super) missing: Vec<Arc<ModelPlan>>,
}

impl Sorted {
    /// Sorts models by whether their device is present.
    ///
    /// # Errors
    ///
    /// A missing device, if that is an error.
    pub(super) fn new(
        plans: Vec<Arc<ModelPlan>>,
        missing_device: MissingDevice,
    ) -> Result<Self, Error> {
        let (missing, runnable): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|plan| plan.description.missing().is_some());
        match (missing.first(), missing_device) {
            (Some(plan), MissingDevice::Refuse) => Err(Error::NoDevice {
                model: plan.description.model.clone(),
                device: plan.description.device.clone(),
                reason: plan.description.missing().unwrap_or_default().to_owned(),
            }),
            _ => Ok(Self { runnable, missing }),
        }
    }
}

//! Showing the settings in effect, and where each comes from.

use super::prepare;
use crate::choose::Candidates;
use crate::config::Config;
use crate::error::Error;
use crate::profile;
use crate::selection::Selection;
use crate::shell::{self, Shell};
use crate::text;
use crate::workspace::Workspace;
use npugate_schema::ExitCode;

/// Prints the profile, or the settings of the tests with a name, to stdout.
///
/// # Errors
///
/// A configuration that makes no sense, a gate that cannot be listed, or a name
/// that no test has.
pub fn run(
    test: Option<&str>,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let profile = prepare::profile(config, workspace)?;
    let Some(name) = test else {
        shell::print_data(profile.show())?;
        return Ok(ExitCode::Ok);
    };
    let mut candidates = Vec::new();
    for gate in prepare::gates(config, workspace, shell)? {
        let listing = gate.list(&Selection::default(), &config.device)?;
        let (package, model) = (gate.adapter.package.clone(), listing.model);
        candidates.push(Candidates { package, model, tests: listing.tests, gone: Vec::new() });
    }
    let facts = || candidates.iter().flat_map(Candidates::facts);
    let shown: Vec<_> = facts()
        .filter(|facts| facts.test.name == name)
        .map(|facts| profile::show_test(&facts, &profile.settle(&facts, facts.test.limits)))
        .collect();
    if shown.is_empty() {
        let names = facts().map(|facts| facts.test.name.as_str());
        let hint = text::did_you_mean(name, names)
            .unwrap_or_else(|| "; `cargo npugate list` lists all tests".to_owned());
        return Err(Error::NoTests(format!("no test is called `{name}`{hint}")));
    }
    shell::print_data(shown.join("\n"))?;
    Ok(ExitCode::Ok)
}

//! Listing tests.

use super::prepare;
use crate::choose::{self, Candidates};
use crate::cli::MessageFormat;
use crate::config::Config;
use crate::error::Error;
use crate::selection::{Ignored, Selection};
use crate::shell::{self, Shell};
use crate::workspace::Workspace;
use npugate_schema::{ExitCode, LISTING_SCHEMA, Listing};

/// Prints the tests of every selected adapter to stdout.
///
/// # Errors
///
/// A gate that cannot be built or does not list, or no test at all.
pub fn run(
    selection: &Selection,
    format: MessageFormat,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let mut candidates = Vec::new();
    for gate in prepare::gates(config, workspace, shell)? {
        let mut listing = gate.list(selection, &config.device)?;
        listing.tests.retain(|test| {
            // A listing shows what a run could do; tests that are off are marked.
            selection.ignored != Ignored::Only || test.ignored.is_some()
        });
        let Listing { model, tests, .. } = listing;
        let package = gate.adapter.package.clone();
        candidates.push(Candidates { package, model, tests, gone: Vec::new() });
    }
    prepare::choose(&mut candidates, selection, workspace, shell)?;
    let listings = candidates.into_iter().map(|Candidates { model, tests, .. }| Listing {
        schema: LISTING_SCHEMA.to_owned(),
        model,
        tests,
    });
    let listings: Vec<_> = listings.collect();
    let text = match format {
        MessageFormat::Human => human(&listings),
        MessageFormat::Json => {
            serde_json::to_string_pretty(&listings).map_err(std::io::Error::from)? + "\n"
        }
    };
    shell::print_data(text)?;
    if listings.iter().all(|listing| listing.tests.is_empty()) {
        return Err(Error::NoTests(choose::no_match(selection)));
    }
    Ok(ExitCode::Ok)
}

/// `MODEL  TEST`, and why a test does not run by default.
fn human(listings: &[Listing]) -> String {
    let width = listings.iter().map(|listing| listing.model.chars().count()).max().unwrap_or(0);
    let lines = listings.iter().flat_map(|listing| {
        listing.tests.iter().map(move |test| {
            let (model, name) = (&listing.model, &test.name);
            match &test.ignored {
                None => format!("{model:<width$}  {name}\n"),
                Some(ignore) => format!("{model:<width$}  {name}  ({ignore})\n"),
            }
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Ignore, ListedTest};

    #[test]
    fn a_line_has_the_model_the_test_and_why_it_is_off() {
        let listing = |model: &str, tests: &[(&str, Option<Ignore>)]| Listing {
            schema: LISTING_SCHEMA.into(),
            model: model.into(),
            tests: tests
                .iter()
                .cloned()
                .map(|(name, ignored)| ListedTest::new(name).ignored(ignored))
                .collect(),
        };
        let listings = [
            listing("tiny", &[("a", None), ("b", Some(Ignore::Full))]),
            listing("smollm2", &[("c", None)]),
        ];
        assert_eq!(
            human(&listings),
            "tiny     a\ntiny     b  (in the long set: run with --full)\nsmollm2  c\n"
        );
    }
}

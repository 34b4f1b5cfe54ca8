//! Joining the results of several runs into one report.

use crate::cli::MergeArgs;
use crate::config::Config;
use crate::error::Error;
use crate::merge::{Joined, Shard, join};
use crate::report::{github, junit, summary};
use crate::shell::Shell;

/// Joins, reports, and returns what one run would have exited with.
///
/// # Errors
///
/// Files that are not the parts of one run, or a report that cannot be written.
pub fn run(args: &MergeArgs, config: &Config, shell: &mut Shell) -> Result<u8, Error> {
    let shards: Vec<_> =
        args.files.iter().map(|path| Shard::read(path)).collect::<Result<_, _>>()?;
    let Joined { results, run, code, cut_short } = join(&shards)?;
    for path in cut_short {
        let path = path.display();
        shell.warn(format_args!(
            "{path} is from a run that was cut short: not every test has a verdict"
        ));
    }
    for result in &results {
        if let Some(blocked) = &result.blocked {
            shell.error(blocked.reason());
        }
        for trouble in &result.troubles {
            let model = &result.description.model;
            shell.error(format_args!("the gate of {model} is broken: {trouble}"));
        }
    }
    summary::print(&results, &run, shell);
    if let Some(path) = &args.junit {
        junit::write(&results, &run, path)?;
    }
    // The parts have already written their annotations.
    if let Some(github) = &config.environment.github {
        github::summarize(&results, &run, github)?;
    }
    Ok(code)
}

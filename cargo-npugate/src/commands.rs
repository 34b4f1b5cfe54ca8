//! The commands.

mod about;
mod doctor;
mod fetch;
mod generate;
mod list;
mod merge;
mod pending;
mod prepare;
mod registry;
mod setup;
mod show_config;
mod test;
mod unreferenced;

use crate::config::{Action, Config};
use crate::error::Error;
use crate::record;
use crate::shell::Shell;
use crate::workspace::Workspace;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use npugate_schema::ExitCode as Code;
use std::process::ExitCode;

/// Today in UTC.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Carries a command out.
///
/// # Errors
///
/// What keeps the command from doing what it was asked for.
pub fn run(config: &Config, shell: &mut Shell) -> Result<ExitCode, Error> {
    // Published rows can be looked up outside of any workspace.
    let workspace = || Workspace::find(&config.cargo, &config.environment);
    let code = match &config.action {
        Action::Test(test) => test::run(test, config, &workspace()?, shell)?,
        Action::List { selection, format } => {
            list::run(selection, *format, config, &workspace()?, shell)?
        }
        Action::Merge(args) => return Ok(merge::run(args, config, shell)?.into()),
        Action::ShowConfig { test } => {
            show_config::run(test.as_deref(), config, &workspace()?, shell)?
        }
        Action::Generate { prompt, max_tokens, network } => {
            generate::run(prompt, *max_tokens, *network, config, &workspace()?, shell)?
        }
        Action::Fetch { models, network } => {
            fetch::run(models, *network, config, &workspace()?, shell)?
        }
        Action::SetupXrt(args) => setup::xrt(args, shell)?,
        Action::Record(args) => {
            let status = record::record(args, &workspace()?, &config.environment, shell)?;
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.map_or(Code::Setup.into(), ExitCode::from));
        }
        Action::Registry(task) => registry::run(task, config, shell)?,
        Action::Doctor(format) => doctor::examine(*format, config, shell)?,
        Action::Device(format) => doctor::describe(*format, config, shell)?,
        Action::Review => pending::review(config, &workspace()?, shell)?,
        Action::Pending { format } => pending::print(*format, config, &workspace()?, shell)?,
        Action::Decide { decision, names } => {
            pending::decide(*decision, names, config, &workspace()?, shell)?
        }
        Action::Unreferenced(leftovers) => {
            unreferenced::run(*leftovers, config, &workspace()?, shell)?
        }
        Action::Version(detail) => about::version(*detail)?,
        Action::Explain(check) => about::explain(*check)?,
        Action::Completions(shell) => about::completions(*shell)?,
        Action::Man(folder) => about::man(folder.as_deref(), shell)?,
    };
    Ok(code.into())
}

//! `cargo npugate`: finds the adapter crates of a cargo workspace, builds their
//! gate test binaries once, runs each in a child process, reads its events,
//! shows progress and a summary, writes JUnit and keeps baselines.
//!
//! It knows no model and no kernel: everything it knows comes from what a gate
//! binary reports about itself, in the formats of `npugate-schema`. The command
//! line is parsed into what was typed (`cli`), resolved into what a run does
//! (`config`), and carried out (`commands`). A run reports what happens as it
//! happens (`runner`); every output is a consumer of these reports.
#![forbid(unsafe_code)]

mod baseline;
mod build;
mod choose;
mod cli;
mod commands;
mod config;
mod doctor;
#[cfg(test)]
mod documents;
mod environment;
mod error;
mod excerpt;
mod fetch;
mod files;
mod filter;
mod gate;
mod interrupt;
mod last_failed;
mod lock;
mod merge;
mod partition;
mod profile;
mod progress;
mod record;
mod report;
mod runner;
mod selection;
mod settings;
mod shell;
mod start;
mod target_runner;
mod text;
mod version;
mod waiver;
mod workspace;

use clap::ColorChoice;
use cli::WhenColor;
use config::Config;
use environment::Environment;
use error::Error;
use shell::{Shell, Verbosity};
use std::{env, process::ExitCode};

/// Runs the command that the process was called with, and returns how it ends.
/// The exit codes are those of `npugate_schema::ExitCode`; `record` passes on the
/// recorder's own.
#[must_use]
pub fn main() -> ExitCode {
    let color = WhenColor::before_parsing(env::var("CARGO_TERM_COLOR").ok().as_deref());
    let cli = match cli::parse(env::args_os(), color) {
        Ok(cli) => cli,
        // Help is not an error.
        Err(error) if !error.use_stderr() => return print_help(&error, color),
        Err(error) => error.exit(),
    };
    shell::set_color(cli.output.color);
    let config = Environment::read(|name| env::var_os(name))
        .map_err(Error::from)
        .and_then(|environment| Ok(Config::resolve(cli, environment)?));
    let verbosity = config.as_ref().map_or(Verbosity::Normal, |config| config.verbosity);
    let mut shell = Shell::stderr(verbosity);
    let result = config.and_then(|config| commands::run(&config, &mut shell));
    result.unwrap_or_else(|error| failed(&error, &mut shell))
}

fn print_help(help: &clap::Error, color: ColorChoice) -> ExitCode {
    shell::set_color(match color {
        ColorChoice::Auto => WhenColor::Auto,
        ColorChoice::Always => WhenColor::Always,
        ColorChoice::Never => WhenColor::Never,
    });
    match shell::print_data(help.render().ansi()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error.into(), &mut Shell::stderr(Verbosity::Normal)),
    }
}

fn failed(error: &Error, shell: &mut Shell) -> ExitCode {
    shell.error(error);
    error.exit_code().into()
}

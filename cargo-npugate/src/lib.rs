//! `cargo npugate`: finds the adapter crates of a cargo workspace, builds their
//! gate test binaries once, runs each in a child process, reads its events,
//! shows progress and a summary, writes JUnit and keeps baselines.
//!
//! It knows no model and no kernel: everything it knows comes from what a gate
//! binary says of itself, in the formats of `npugate-schema`. The command line
//! is parsed into what was typed (`cli`), resolved into what a run does
//! (`config`), and carried out (`commands`). A run tells what happens as it
//! happens (`runner`); every output is a consumer of that.
#![forbid(unsafe_code)]

mod baseline;
mod build;
mod cli;
mod commands;
mod config;
mod error;
mod fetch;
mod gate;
mod interrupt;
mod progress;
mod record;
mod report;
mod runner;
mod shell;
mod text;
mod workspace;

use cli::WhenColor;
use config::{Config, Environment};
use shell::{Shell, Verbosity};
use std::{env, process::ExitCode};

/// Runs the command that the process was called with, and returns how it ends.
/// The exit codes are those of `npugate_schema::ExitCode`; `record` passes the
/// recorder's own on.
#[must_use]
pub fn main() -> ExitCode {
    let color = WhenColor::before_parsing(env::var("CARGO_TERM_COLOR").ok().as_deref());
    let cli = match cli::parse(env::args_os(), color) {
        Ok(cli) => cli,
        // Help and the version go to stdout and are no error.
        Err(error) => error.exit(),
    };
    shell::set_color(cli.output.color);
    let config = Environment::read(|name| env::var_os(name))
        .and_then(|environment| Config::resolve(cli, environment));
    let verbosity = config.as_ref().map_or(Verbosity::Normal, |config| config.verbosity);
    let mut shell = Shell::stderr(verbosity);
    match config.and_then(|config| commands::run(&config, &mut shell)) {
        Ok(code) => code,
        Err(error) => {
            shell.error(&error);
            error.exit_code().into()
        }
    }
}

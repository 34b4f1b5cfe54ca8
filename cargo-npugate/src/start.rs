//! A program that cannot be started.

use std::{ffi::OsString, io, process::Command};

/// A program that cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be started: {source}", program.display())]
pub struct StartError {
    program: OsString,
    source: io::Error,
}

impl StartError {
    /// Why the program of a command cannot be started.
    pub fn new(command: &Command, source: io::Error) -> Self {
        Self { program: command.get_program().to_owned(), source }
    }
}

//! The event stream: JSON lines, each written before anything else happens, so
//! that a reader knows which test a dead process was in.

use super::error::CliError;
use crate::schema::Event;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::PathBuf,
};

/// Where events go, if anywhere.
#[derive(Debug)]
pub(super) struct Events(Option<(PathBuf, File)>);

impl Events {
    /// Opens the file for appending; `None` keeps no events.
    pub fn open(path: Option<PathBuf>) -> Result<Self, CliError> {
        let Some(path) = path else { return Ok(Self(None)) };
        match OpenOptions::new().append(true).create(true).open(&path) {
            Ok(file) => Ok(Self(Some((path, file)))),
            Err(source) => Err(CliError::file(&path, source)),
        }
    }

    /// Whether anybody reads them.
    pub fn are_read(&self) -> bool {
        self.0.is_some()
    }

    /// Appends an event, in one write.
    pub fn send(&mut self, event: &Event) -> Result<(), CliError> {
        let Some((path, file)) = &mut self.0 else { return Ok(()) };
        line(event)
            .and_then(|line| file.write_all(&line))
            .map_err(|source| CliError::file(path, source))
    }
}

fn line(event: &Event) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_appended_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        std::fs::write(&path, "kept\n").unwrap();
        let mut events = Events::open(Some(path.clone())).unwrap();
        events.send(&Event::TestStarted { name: "a".into() }).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "kept\n{\"event\":\"test_started\",\"name\":\"a\"}\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_that_names_it() {
        let path = tempfile::tempdir().unwrap().path().join("missing/events");
        let error = Events::open(Some(path.clone())).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{} cannot be written: ", path.display())));
        assert_eq!(error.exit_code(), crate::schema::ExitCode::WriteFailed);
    }
}

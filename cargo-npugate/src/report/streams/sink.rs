//! Where lines for programs go. Each line is written whole and at once, so that a program
//! that follows the run, or reads what a killed run left behind, sees whole lines.

use crate::files::FileError;
use fs_err as fs;
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Where lines go.
pub struct Sink {
    out: Box<dyn Write>,
    place: Place,
    state: State,
}

/// The name of the place in an error.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Place {
    Stdout,
    File(PathBuf),
}

/// Whether lines still arrive.
#[derive(Debug)]
enum State {
    Open,
    /// The reader has closed the pipe: it has seen enough.
    Closed,
    Failed(io::Error),
}

impl Sink {
    /// A sink that writes to this program's stdout.
    pub fn stdout() -> Self {
        Self::to(io::stdout(), Place::Stdout)
    }

    /// A sink that writes to a new file, which replaces an old one; creates missing folders.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::File::create(path));
        let file = file.map_err(|source| FileError::Write { path: path.to_owned(), source })?;
        Ok(Self::to(file, Place::File(path.to_owned())))
    }

    fn to(out: impl Write + 'static, place: Place) -> Self {
        Self { out: Box::new(out), place, state: State::Open }
    }

    /// Writes a line. After the first failure, further lines are dropped.
    pub fn line(&mut self, line: &str) {
        if !matches!(self.state, State::Open) {
            return;
        }
        let line = format!("{line}\n");
        match self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.state = State::Closed,
            Err(error) => self.state = State::Failed(error),
        }
    }

    /// Reports a failure to write, once.
    ///
    /// # Errors
    ///
    /// A line could not be written, except to a closed pipe.
    pub fn check(&mut self) -> Result<(), FileError> {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Failed(source) => Err(match &self.place {
                Place::Stdout => FileError::Stdout(source),
                Place::File(path) => FileError::Write { path: path.clone(), source },
            }),
            State::Open | State::Closed => Ok(()),
        }
    }
}

#[cfg(test)]
pub mod testing {
    //! A sink whose lines a test can read.

    use super::{Place, Sink};
    use std::{
        cell::RefCell,
        io::{self, Write},
        rc::Rc,
    };

    /// What was written.
    #[derive(Clone, Default)]
    pub struct Written(Rc<RefCell<Vec<u8>>>);

    impl Written {
        /// A sink that writes here.
        pub fn sink(&self) -> Sink {
            Sink::to(self.clone(), Place::Stdout)
        }

        /// The text so far.
        pub fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, rc::Rc};

    /// Refuses everything after the first line.
    struct Full {
        lines: Rc<Cell<usize>>,
        kind: io::ErrorKind,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.lines.set(self.lines.get() + 1);
            if self.lines.get() > 1 { Err(self.kind.into()) } else { Ok(bytes.len()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn three_lines(kind: io::ErrorKind) -> (usize, Result<(), FileError>) {
        let lines = Rc::new(Cell::new(0));
        let place = Place::File("run.jsonl".into());
        let mut sink = Sink::to(Full { lines: lines.clone(), kind }, place);
        for line in ["a", "b", "c"] {
            sink.line(line);
        }
        (lines.get(), sink.check())
    }

    #[test]
    fn a_closed_pipe_is_not_an_error_and_is_not_written_to_again() {
        let (writes, result) = three_lines(io::ErrorKind::BrokenPipe);
        assert_eq!(writes, 2, "the third line is not tried");
        result.unwrap();
    }

    #[test]
    fn a_full_disk_is_reported_once_at_the_end() {
        let (writes, result) = three_lines(io::ErrorKind::StorageFull);
        assert_eq!(writes, 2);
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("run.jsonl cannot be written: "), "{message}");
    }

    #[test]
    fn a_file_that_cannot_be_created_is_an_error_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(Sink::create(&folder.path().join("file/run.jsonl")).is_err());
        let path = folder.path().join("a/b/run.jsonl");
        Sink::create(&path).unwrap().line("{}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n");
    }
}

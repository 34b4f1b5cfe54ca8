//! Documents that are written by the code and kept under version control: tables, help,
//! schemas. A test compares each with what the code would write, or writes it if
//! [`UPDATE_VAR`] is set.
//!
//! This crate is only for tests of this workspace. Other packages depend on it by its path,
//! in their dev-dependencies, and without a version, so that it is not part of what they
//! publish.
#![forbid(unsafe_code)]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    thread,
};

/// The environment variable that is set to 1 to write documents instead of comparing them.
pub const UPDATE_VAR: &str = "NPUGATE_UPDATE_DOCS";

/// A document of the package that the calling test belongs to, by its path from the
/// package's folder: `document!("docs/exit-codes.md")`.
#[macro_export]
macro_rules! document {
    ($path:expr) => {
        $crate::Document::new(env!("CARGO_MANIFEST_DIR"), env!("CARGO_PKG_NAME"), $path)
    };
}

/// A document that the code of a package writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    path: PathBuf,
    package: &'static str,
}

/// Whether documents are compared or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Compare,
    Write,
}

impl Document {
    /// A document of a package, by its path from the package's folder; see [`document!`].
    pub fn new(folder: &str, package: &'static str, path: impl AsRef<Path>) -> Self {
        Self { path: Path::new(folder).join(path), package }
    }

    /// Compares the document with what the code writes, or writes it.
    ///
    /// # Panics
    ///
    /// The document is out of date, or it cannot be written. The message names the command
    /// that writes it.
    #[track_caller]
    pub fn check(&self, text: &str) {
        let committed = self.committed(text);
        assert!(committed == text, "{}", self.out_of_date());
    }

    /// The text of the document, for a comparison that is not of every character. If
    /// documents are written, this is what the code writes. A missing document is empty.
    ///
    /// # Panics
    ///
    /// The document cannot be written.
    #[track_caller]
    pub fn committed(&self, text: &str) -> String {
        let write = env::var_os(UPDATE_VAR).is_some_and(|value| value == "1");
        let mode = if write { Mode::Write } else { Mode::Compare };
        match self.read(text, mode) {
            Ok(committed) => committed,
            Err(error) => panic!("{} cannot be written: {error}", self.path.display()),
        }
    }

    /// The message for a document that is out of date.
    pub fn out_of_date(&self) -> String {
        // A test runs on a thread with its name, unless tests run one after another.
        let current = thread::current();
        let test = current.name().filter(|name| *name != "main").unwrap_or_default();
        let command = format!("{UPDATE_VAR}=1 cargo test -p {} {test}", self.package);
        format!("{} is out of date: run `{}`", self.path.display(), command.trim_end())
    }

    fn read(&self, text: &str, mode: Mode) -> io::Result<String> {
        if mode == Mode::Write {
            self.path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&self.path, text)?;
        }
        Ok(fs::read_to_string(&self.path).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_is_out_of_date_names_the_command_that_writes_it() {
        let document = document!("docs/none.md");
        let said = document.out_of_date();
        assert!(
            said.ends_with(
                "docs/none.md is out of date: run `NPUGATE_UPDATE_DOCS=1 cargo test -p npugate-documents tests::a_document_that_is_out_of_date_names_the_command_that_writes_it`"
            ),
            "{said}"
        );
    }

    #[test]
    fn a_document_is_written_only_when_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let document = Document::new(folder.path().to_str().unwrap(), "a", "docs/a.md");
        assert_eq!(document.read("text", Mode::Compare).unwrap(), "");
        assert!(!document.path.exists());
        assert_eq!(document.read("text", Mode::Write).unwrap(), "text");
        assert_eq!(document.read("other", Mode::Compare).unwrap(), "text");
    }
}

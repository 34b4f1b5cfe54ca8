//! Folders to break things in: copies of fixtures, and a workspace outside of
//! this repository.

use crate::command::repository;
use fs_err as fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A copy of an adapter's goldens and baselines, for use with `NPUGATE_FIXTURES`.
pub struct Fixtures {
    folder: TempDir,
    model: String,
}

impl Fixtures {
    /// Copies the fixtures of an adapter of this repository.
    pub fn of(model: &str) -> Self {
        let folder = temporary();
        copy_tree(&repository().join("fixtures").join(model), &folder.path().join(model));
        Self { folder, model: model.to_owned() }
    }

    /// The folder for `NPUGATE_FIXTURES`.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A file of the adapter.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(&self.model).join(name)
    }

    /// Every file with its contents, to show that nothing was written.
    pub fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        walk(self.folder.path(), &mut |path| {
            files.push((path.to_owned(), fs::read(path).unwrap_or_default()));
        });
        files.sort();
        files
    }
}

/// A workspace outside of this repository with the single adapter of `tests/outside`,
/// which depends only on `npugate`.
pub fn outside() -> TempDir {
    let folder = temporary();
    let template = repository().join("tests/outside");
    copy_tree(&template, folder.path());
    let manifest = folder.path().join("Cargo.toml");
    let text = fs::read_to_string(template.join("Cargo.toml.in")).unwrap_or_default();
    let harness = repository().join("harness");
    write(&manifest, text.replace("@HARNESS@", &harness.display().to_string()).as_bytes());
    // The versions that this repository is tested with, so that nothing has to be looked
    // up.
    copy(&repository().join("Cargo.lock"), &folder.path().join("Cargo.lock"));
    folder
}

/// A temporary folder that removes itself.
pub fn temporary() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"))
}

/// Writes a file of a test.
pub fn write(path: &Path, contents: &[u8]) {
    fs::write(path, contents).unwrap_or_else(|error| panic!("{error}"));
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap_or_else(|error| panic!("{error}"));
}

fn copy_tree(from: &Path, to: &Path) {
    walk(from, &mut |path| {
        let target = to.join(path.strip_prefix(from).unwrap_or(path));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{error}"));
        }
        copy(path, &target);
    });
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}"));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}

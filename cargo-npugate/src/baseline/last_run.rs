//! The records behind pending changes, kept among the build's files. A baseline has only
//! values, but a review also shows whether they got better or worse and how far they may
//! go.

use fs_err as fs;
use npugate_schema::{Record, Sha256, write_atomically};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// Where records are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastRun {
    folder: PathBuf,
}

impl LastRun {
    /// Keeps records in cargo's target folder.
    pub fn new(target: impl Into<PathBuf>) -> Self {
        Self { folder: target.into().join("npugate").join("last-run") }
    }

    /// Saves the records behind a baseline's changes, over earlier ones of the same tests.
    ///
    /// # Errors
    ///
    /// Any failure to write.
    pub fn save(&self, baseline: &Path, records: &[Record]) -> io::Result<()> {
        let earlier = self.load(baseline);
        let all = earlier.iter().chain(records).map(|record| (&record.name, record));
        let all: Vec<_> = all.collect::<BTreeMap<_, _>>().into_values().collect();
        write_atomically(&self.path(baseline), &serde_json::to_vec(&all)?)
    }

    /// The records behind a baseline's changes; empty if there are none that this version
    /// can read.
    pub fn load(&self, baseline: &Path) -> Vec<Record> {
        let text = fs::read(self.path(baseline)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// The file, named after the baseline's path because several workspaces may share a
    /// target folder.
    fn path(&self, baseline: &Path) -> PathBuf {
        let name = baseline.file_name().unwrap_or_default();
        let place = baseline.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let place = place.map_or_else(|| baseline.to_owned(), |folder| folder.join(name));
        let digest = Sha256::of(place.as_os_str().as_encoded_bytes()).to_string();
        self.folder.join(format!("{}.json", &digest[..16]))
    }
}

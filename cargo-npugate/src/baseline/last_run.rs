//! The records behind pending changes, kept among the build's files: a baseline
//! has values alone, and a review is to say which way they went and how far
//! they may.

use fs_err as fs;
use npugate_schema::{Record, write_atomically};
use std::{collections::BTreeMap, io, path::PathBuf};

/// Where records are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastRun {
    folder: PathBuf,
}

impl LastRun {
    /// In cargo's target folder.
    pub fn new(target: impl Into<PathBuf>) -> Self {
        Self { folder: target.into().join("npugate").join("last-run") }
    }

    /// Keeps these records, over earlier ones of the same tests.
    ///
    /// # Errors
    ///
    /// Any failure to write.
    pub fn save(&self, model: &str, device: &str, records: &[Record]) -> io::Result<()> {
        let earlier = self.load(model, device);
        let all = earlier.iter().chain(records).map(|record| (&record.name, record));
        let all: Vec<_> = all.collect::<BTreeMap<_, _>>().into_values().collect();
        write_atomically(&self.path(model, device), &serde_json::to_vec(&all)?)
    }

    /// The records of a model on a device; none if there are none, or none that
    /// this version can read.
    pub fn load(&self, model: &str, device: &str) -> Vec<Record> {
        let text = fs::read(self.path(model, device)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn path(&self, model: &str, device: &str) -> PathBuf {
        self.folder.join(model).join(format!("{device}.json"))
    }
}

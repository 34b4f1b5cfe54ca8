//! A baseline and the pending changes beside it.

use super::{ChangesError, LastRun};
use crate::files::FileError;
use fs_err as fs;
use npugate_schema::{
    BASELINE_SCHEMA, Baseline, BaselineError, BaselineValue, Standing, pending_path,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

/// A baseline and the pending changes beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct PendingFile {
    /// The baseline's file.
    pub path: PathBuf,
    /// The accepted figures.
    pub baseline: Baseline,
    /// The baseline with every change accepted.
    pub pending: Baseline,
    on_disk: OnDisk,
}

/// The current contents of the two files.
#[derive(Clone, PartialEq, Debug)]
struct OnDisk {
    baseline: Option<Baseline>,
    pending: Option<Baseline>,
}

type Values = BTreeMap<String, BaselineValue>;

/// A pending change: one test's figures.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The test.
    pub test: String,
    /// Its metrics that differ.
    pub metrics: Vec<MetricChange>,
}

/// One metric that differs.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricChange {
    /// Its key.
    pub metric: String,
    /// The accepted value.
    pub old: Option<f64>,
    /// The measured value.
    pub new: Option<f64>,
    /// The worst value that would count as the same, if the last run is known.
    pub allowed: Option<f64>,
    /// A word for the change.
    pub standing: &'static str,
}

impl PendingFile {
    /// Reads a baseline and the pending changes beside it.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that belongs to another model or device.
    pub fn load(path: &Path, model: &str, device: &str) -> Result<Self, ChangesError> {
        let baseline = Baseline::load(path, model, device)?;
        let pending = Baseline::load(&pending_path(path), model, device)?;
        let accepted = baseline.clone().unwrap_or_else(|| Baseline::empty(model, device));
        Ok(Self {
            path: path.to_owned(),
            pending: pending.clone().unwrap_or_else(|| accepted.clone()),
            baseline: accepted,
            on_disk: OnDisk { baseline, pending },
        })
    }

    /// Reads the pending changes of a `.json.new`, which names its model and device.
    fn open(pending: &Path) -> Result<Self, ChangesError> {
        let read = |source| FileError::Read { path: pending.to_owned(), source };
        let text = fs::read_to_string(pending).map_err(read)?;
        let Baseline { schema, model, device, .. } = serde_json::from_str(&text)
            .map_err(|source| BaselineError::Json { path: pending.to_owned(), source })?;
        if schema != BASELINE_SCHEMA {
            let expected = BASELINE_SCHEMA.to_owned();
            let path = pending.to_owned();
            return Err(BaselineError::Identity { path, found: schema, expected }.into());
        }
        Self::load(&pending.with_extension(""), &model, &device)
    }

    /// Moves a test's pending figures into the baseline.
    pub fn accept(&mut self, test: &str) {
        copy(test, &self.pending.tests, &mut self.baseline.tests);
    }

    /// Drops a test's pending figures.
    pub fn reject(&mut self, test: &str) {
        copy(test, &self.baseline.tests, &mut self.pending.tests);
    }

    /// Writes what changed: the baseline first, so that nothing is lost if this is cut
    /// short. If nothing is pending any more, its file is removed.
    ///
    /// # Errors
    ///
    /// Any failure to write.
    pub fn save(&mut self) -> Result<(), ChangesError> {
        if self.on_disk.baseline.as_ref().unwrap_or(&self.empty()) != &self.baseline {
            self.baseline.save(&self.path).map_err(|error| written(&self.path, error))?;
            self.on_disk.baseline = Some(self.baseline.clone());
        }
        let path = pending_path(&self.path);
        let wanted = Some(&self.pending).filter(|pending| **pending != self.baseline);
        if wanted == self.on_disk.pending.as_ref() {
            return Ok(());
        }
        match wanted {
            Some(pending) => pending.save(&path).map_err(|error| written(&path, error))?,
            None => match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(FileError::Write { path, source }.into());
                }
                _ => {}
            },
        }
        self.on_disk.pending = wanted.cloned();
        Ok(())
    }

    /// The changes, by test. If the last run is known, its records say whether they are
    /// better or worse.
    pub fn explained(&self, last_run: &LastRun) -> Vec<Change> {
        let records = last_run.load(&self.path);
        let empty = Values::new();
        let changes = self.changes().into_iter().map(|test| {
            let old = self.baseline.tests.get(&test).unwrap_or(&empty);
            let new = self.pending.tests.get(&test).unwrap_or(&empty);
            let comparison = records
                .iter()
                .find(|record| record.name == test)
                .map(|record| self.baseline.compare(record))
                .unwrap_or_default();
            let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
            let metrics = keys
                .into_iter()
                .filter(|key| old.get(*key) != new.get(*key))
                .map(|key| {
                    let finding = comparison.findings.iter().find(|one| one.metric == *key);
                    let (old, new) = (old.get(key), new.get(key));
                    MetricChange {
                        metric: key.clone(),
                        old: old.map(|value| value.0),
                        new: new.map(|value| value.0),
                        allowed: finding.and_then(|finding| finding.allowed),
                        standing: match (old, new, finding.map(|finding| finding.standing)) {
                            (None, ..) => "new",
                            (_, None, _) => "gone",
                            (_, _, Some(Standing::Better)) => "better",
                            (_, _, Some(Standing::Worse)) => "worse",
                            // Another metric of the test changed beyond the noise.
                            (_, _, Some(Standing::Same)) => "same",
                            _ => "changed",
                        },
                    }
                })
                .collect();
            Change { test, metrics }
        });
        changes.collect()
    }

    /// The tests whose pending figures differ from the accepted ones.
    pub fn changes(&self) -> Vec<String> {
        let (old, new) = (&self.baseline.tests, &self.pending.tests);
        let tests: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        tests.into_iter().filter(|test| old.get(*test) != new.get(*test)).cloned().collect()
    }

    fn empty(&self) -> Baseline {
        Baseline::empty(self.baseline.model.clone(), self.baseline.device.clone())
    }
}

/// Every pending file of a workspace, by path: `*.json.new` in a folder named
/// `baseline`. The folders are searched, so that this works even if nothing builds.
///
/// # Errors
///
/// A file with such a name that is not a baseline.
pub fn find(roots: &[PathBuf]) -> Result<Vec<PendingFile>, ChangesError> {
    let mut paths = BTreeSet::new();
    for root in roots {
        walk(root, &mut paths);
    }
    paths.iter().map(|path| PendingFile::open(path)).collect()
}

fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    // A folder that cannot be read is skipped.
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_baseline = folder.file_name() == Some(OsStr::new("baseline"));
    for entry in entries.filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && name != "target" && !name.starts_with('.') {
            walk(&path, found);
        } else if !is_folder && is_baseline && name.ends_with(".json.new") {
            found.insert(fs::canonicalize(&path).unwrap_or(path));
        }
    }
}

fn copy(test: &str, from: &BTreeMap<String, Values>, to: &mut BTreeMap<String, Values>) {
    match from.get(test) {
        Some(values) => _ = to.insert(test.to_owned(), values.clone()),
        None => _ = to.remove(test),
    }
}

fn written(path: &Path, error: BaselineError) -> ChangesError {
    match error {
        BaselineError::Io(source) => FileError::Write { path: path.to_owned(), source }.into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_schema::{Direction, Metric, Outcome, Record, Unit};

    fn record(name: &str, cosine: f64) -> Record {
        let metric = Metric::new("cosine", cosine, Unit::Cosine, Direction::Higher);
        Record::new(name, Outcome::Passed, "").measured(vec![metric])
    }

    /// `a` is accepted and got better, `b` is accepted and gone, `c` is new.
    fn file(folder: &Path) -> PendingFile {
        let path = Baseline::path(folder, "emu");
        let mut file = PendingFile::load(&path, "tiny", "emu").unwrap();
        file.baseline.accept(&record("a", 0.99));
        file.baseline.accept(&record("b", 0.99));
        file.pending = file.baseline.clone();
        file.pending.accept(&record("a", 0.999));
        file.pending.tests.remove("b");
        file.pending.accept(&record("c", 0.5));
        file.save().unwrap();
        file
    }

    #[test]
    fn accepting_and_rejecting_leaves_nothing_pending() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = file(folder.path());
        assert_eq!(file.changes(), ["a", "b", "c"]);
        file.accept("a");
        file.accept("b");
        file.save().unwrap();
        let mut again = find(&[folder.path().to_owned()]).unwrap();
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].changes(), ["c"]);
        assert_eq!(again[0].baseline.tests.keys().collect::<Vec<_>>(), ["a"]);
        again[0].reject("c");
        again[0].save().unwrap();
        assert!(!pending_path(&file.path).exists());
        assert_eq!(find(&[folder.path().to_owned()]).unwrap(), []);
        let kept = Baseline::load(&file.path, "tiny", "emu").unwrap().unwrap();
        assert_eq!(kept.tests["a"]["cosine"], BaselineValue(0.999));
    }

    #[test]
    fn changes_are_better_or_worse_if_the_run_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path());
        let last_run = LastRun::new(folder.path().join("target"));
        let standings = |changes: Vec<Change>| {
            changes.iter().map(|change| change.metrics[0].standing).collect::<Vec<_>>()
        };
        assert_eq!(standings(file.explained(&last_run)), ["changed", "gone", "new"]);
        last_run.save(&file.path, &[record("a", 0.999), record("c", 0.5)]).unwrap();
        let changes = file.explained(&last_run);
        assert_eq!(changes[0].metrics[0].allowed, Some(0.985));
        assert_eq!(standings(changes), ["better", "gone", "new"]);
    }

    #[test]
    fn builds_and_hidden_folders_are_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        for place in ["target", ".git", "models"] {
            file(&folder.path().join(place));
        }
        let found = find(&[folder.path().to_owned(), folder.path().join("models")]).unwrap();
        assert_eq!(found.len(), 1, "once, although two roots lead to it");
    }

    #[test]
    fn a_file_that_is_not_a_baseline_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = pending_path(&Baseline::path(folder.path(), "emu"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}").unwrap();
        let error = find(&[folder.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("emu.json.new is not a baseline"), "{error}");
    }
}

//! The tests that did not succeed in earlier runs, kept among the build's files for
//! `--rerun failed`.

use crate::runner::ModelResult;
use crate::workspace::Workspace;
use npugate_schema::{NotRun, Outcome, Sha256, write_atomically};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

/// Version of the file.
const SCHEMA: &str = "npugate-last-failed/1";

/// The file with these tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastFailed {
    path: PathBuf,
}

/// A test that did not succeed, or that was selected but did not run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedTest {
    /// Its adapter's package.
    pub package: String,
    /// Its model.
    pub model: String,
    /// Its name.
    pub test: String,
}

/// Tests that did not succeed.
pub type FailedTests = BTreeSet<FailedTest>;

/// The contents of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    schema: String,
    tests: FailedTests,
}

/// Why the failed tests are not known.
#[derive(Debug, thiserror::Error)]
pub enum LastFailedError {
    /// The file exists but cannot be read.
    #[error("{} cannot be read: {source}; run the tests once without --rerun", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file has another format or version.
    #[error("{} is not in the format of this version; run the tests once without --rerun", path.display())]
    Form { path: PathBuf },
}

impl FailedTest {
    /// A test of a model.
    pub fn new(package: &str, model: &str, test: &str) -> Self {
        Self { package: package.to_owned(), model: model.to_owned(), test: test.to_owned() }
    }
}

impl LastFailed {
    /// The file in cargo's target folder, named after the workspace because several may
    /// share the folder.
    pub fn of(workspace: &Workspace) -> Self {
        Self::new(workspace.target.as_std_path(), workspace.root.as_std_path())
    }

    fn new(target: &Path, root: &Path) -> Self {
        let digest = Sha256::of(root.as_os_str().as_encoded_bytes()).to_string();
        let name = format!("last-failed-{}.json", &digest[..16]);
        Self { path: target.join("npugate").join(name) }
    }

    /// The tests that did not succeed; none before the first run.
    ///
    /// # Errors
    ///
    /// The file exists but cannot be read.
    pub fn load(&self) -> Result<FailedTests, LastFailedError> {
        let path = || self.path.clone();
        let text = match fs_err::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FailedTests::new()),
            Err(source) => return Err(LastFailedError::Read { path: path(), source }),
        };
        match serde_json::from_slice::<Contents>(&text) {
            Ok(Contents { schema, tests }) if schema == SCHEMA => Ok(tests),
            _ => Err(LastFailedError::Form { path: path() }),
        }
    }

    /// Records a run: failed tests are added, passed tests are removed. Tests that did not
    /// run stay as they are, except that those that no longer exist are removed.
    ///
    /// # Errors
    ///
    /// Any failure to write.
    pub fn update(&self, results: &[ModelResult]) -> io::Result<()> {
        // A file that cannot be read is replaced.
        let before = self.load().unwrap_or_default();
        self.save(&before, take_in(before.clone(), results))
    }

    /// Drops tests that no longer exist.
    ///
    /// # Errors
    ///
    /// Any failure to write.
    pub fn forget(&self, tests: &FailedTests) -> io::Result<()> {
        let before = self.load().unwrap_or_default();
        self.save(&before, &before - tests)
    }

    fn save(&self, before: &FailedTests, tests: FailedTests) -> io::Result<()> {
        if tests == *before {
            return Ok(());
        }
        let contents = Contents { schema: SCHEMA.to_owned(), tests };
        write_atomically(&self.path, &serde_json::to_vec_pretty(&contents)?)
    }
}

fn take_in(mut tests: FailedTests, results: &[ModelResult]) -> FailedTests {
    for result in results {
        for record in &result.records {
            let test = FailedTest::new(&result.package, &result.description.model, &record.name);
            if record.not_run == Some(NotRun::Gone) {
                tests.remove(&test);
            } else if !record.outcome.is_good() {
                tests.insert(test);
            } else if !matches!(record.outcome, Outcome::Ignored { .. }) {
                tests.remove(&test);
            }
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::NoVerdict;
    use npugate_schema::{Description, FlakyResult, Record};

    fn result(records: &[(&str, Outcome)]) -> ModelResult {
        let record = |(name, outcome): &(&str, Outcome)| Record::new(*name, outcome.clone(), "");
        ModelResult {
            records: records.iter().map(record).collect(),
            ..ModelResult::new(Description::new("tiny", "emu"), "tiny-adapter")
        }
    }

    fn names(tests: &FailedTests) -> Vec<&str> {
        tests.iter().map(|test| test.test.as_str()).collect()
    }

    fn skipped(reason: &str) -> Outcome {
        Outcome::Skipped { reason: reason.into() }
    }

    #[test]
    fn a_failed_test_is_kept_until_it_passes() {
        let folder = tempfile::tempdir().unwrap();
        let file = LastFailed::new(folder.path(), folder.path());
        assert_eq!(file.load().unwrap(), FailedTests::new(), "before the first run");
        let flaky = |result| Outcome::Flaky { attempt: 2, attempts: 3, result };
        file.update(&[result(&[
            ("a", Outcome::Failed),
            ("b", Outcome::Passed),
            ("c", Outcome::Invalid { reason: "no golden".into() }),
            ("d", skipped("interrupted")),
            ("e", flaky(FlakyResult::Fail)),
            ("f", flaky(FlakyResult::Pass)),
            ("g", Outcome::Regressed),
        ])])
        .unwrap();
        assert_eq!(names(&file.load().unwrap()), ["a", "c", "d", "e", "g"]);
        let first = file.load().unwrap().pop_first().unwrap();
        assert_eq!(first, FailedTest::new("tiny-adapter", "tiny", "a"));
        let off = Outcome::Ignored { reason: "in the long set".into() };
        file.update(&[result(&[("a", Outcome::Passed), ("c", off), ("h", Outcome::Failed)])])
            .unwrap();
        // Tests that were not selected, or were off, stay.
        assert_eq!(names(&file.load().unwrap()), ["c", "d", "e", "g", "h"]);
    }

    #[test]
    fn a_test_that_is_gone_is_forgotten() {
        let failed = take_in(FailedTests::new(), &[result(&[("a", Outcome::Failed)])]);
        let mut gone = result(&[]);
        gone.records.push(NoVerdict::Gone.record("a"));
        assert_eq!(take_in(failed.clone(), &[gone]), FailedTests::new());
        let folder = tempfile::tempdir().unwrap();
        let file = LastFailed::new(folder.path(), folder.path());
        file.update(&[result(&[("a", Outcome::Failed), ("b", Outcome::Failed)])]).unwrap();
        file.forget(&failed).unwrap();
        assert_eq!(names(&file.load().unwrap()), ["b"]);
    }

    #[test]
    fn a_file_in_another_format_is_an_error_and_then_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = LastFailed::new(folder.path(), folder.path());
        std::fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        for text in ["", "{", r#"{"schema":"npugate-last-failed/2","tests":[]}"#] {
            std::fs::write(&file.path, text).unwrap();
            let error = file.load().unwrap_err().to_string();
            assert!(error.ends_with("run the tests once without --rerun"), "{error}");
            file.update(&[result(&[("a", Outcome::Failed)])]).unwrap();
            assert_eq!(names(&file.load().unwrap()), ["a"]);
        }
    }

    #[test]
    fn a_run_that_changes_nothing_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = LastFailed::new(folder.path(), folder.path());
        file.update(&[result(&[("a", Outcome::Passed)])]).unwrap();
        assert!(!file.path.exists());
    }
}

//! A baseline: the figures of the last run that was accepted, for each device class.
//!
//! Times and rates are not in a baseline: they are compared only within one run.

use crate::regression::{Comparison, compare, is_comparable};
use crate::{Direction, Metric, Record, Unit, number, write_atomically};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// Version of the baseline format.
pub const BASELINE_SCHEMA: &str = "npugate-baseline/1";

/// Accepted figures of one model on one device class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Baseline {
    /// [`BASELINE_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = BASELINE_SCHEMA)))]
    pub schema: String,
    /// The adapter's name.
    pub model: String,
    /// The device class.
    pub device: String,
    /// `{test: {metric: value}}`, sorted.
    pub tests: BTreeMap<String, BTreeMap<String, Value>>,
}

/// An accepted value, rounded to a few significant digits so that diffs are readable.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Value(
    #[serde(with = "number")]
    #[cfg_attr(any(test, feature = "json-schema"), schemars(with = "crate::json_schema::Number"))]
    pub f64,
);

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read or written.
    #[error("the baseline cannot be read or written: {0}")]
    Io(#[from] io::Error),
    /// The file is not a baseline.
    #[error("{path} is not a baseline: {source}; restore it from version control")]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file is of another version, model or device.
    #[error("{path} is for {found}, not for {expected}")]
    Identity {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// `emu.json` becomes `emu.json.new`: where a pending baseline is written.
pub fn pending_path(baseline: &Path) -> PathBuf {
    let mut name = baseline.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

impl Baseline {
    /// A baseline with nothing in it.
    pub fn empty(model: impl Into<String>, device: impl Into<String>) -> Self {
        Self {
            schema: BASELINE_SCHEMA.to_owned(),
            model: model.into(),
            device: device.into(),
            tests: BTreeMap::new(),
        }
    }

    /// Where the baseline of a device class is, in a model's fixtures folder.
    pub fn path(fixtures: &Path, device: &str) -> PathBuf {
        fixtures.join("baseline").join(format!("{device}.json"))
    }

    /// Reads a baseline; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// An unreadable file, one that is not a baseline, or one of another
    /// version, model or device class.
    pub fn load(path: &Path, model: &str, device: &str) -> Result<Option<Self>, BaselineError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let baseline: Self = serde_json::from_str(&text)
            .map_err(|source| BaselineError::Json { path: path.to_owned(), source })?;
        let identity = |schema: &str, model: &str, device: &str| {
            format!("{model} on {device} in the format {schema}")
        };
        let found = identity(&baseline.schema, &baseline.model, &baseline.device);
        let expected = identity(BASELINE_SCHEMA, model, device);
        if found == expected {
            Ok(Some(baseline))
        } else {
            Err(BaselineError::Identity { path: path.to_owned(), found, expected })
        }
    }

    /// The text of the file: sorted, two spaces of indent, a final newline.
    ///
    /// # Errors
    ///
    /// None in practice: every value is representable.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Writes the baseline, whole or not at all.
    ///
    /// # Errors
    ///
    /// Any failure to write; the old file is then unchanged.
    pub fn save(&self, path: &Path) -> Result<(), BaselineError> {
        let text = self.to_text().map_err(io::Error::from)?;
        Ok(write_atomically(path, text.as_bytes())?)
    }

    /// Accepts the comparable metrics of a record, in place of what was accepted for that
    /// test before.
    pub fn accept(&mut self, record: &Record) {
        let values: BTreeMap<_, _> = record
            .metrics
            .iter()
            .filter(|metric| is_comparable(metric))
            .map(|metric| (metric.key(), Value(round(metric))))
            .collect();
        if values.is_empty() {
            self.tests.remove(&record.name);
        } else {
            self.tests.insert(record.name.clone(), values);
        }
    }

    /// Compares a record with what was accepted for its test.
    pub fn compare(&self, record: &Record) -> Comparison {
        compare(record, self.tests.get(&record.name))
    }
}

/// Rounds to three significant digits of the error (for a cosine, of its distance from 1),
/// so that a diff shows what changed and nothing else.
fn round(metric: &Metric) -> f64 {
    match (metric.unit, metric.direction) {
        (Unit::Cosine, Direction::Higher) => {
            let error = significant(1.0 - metric.value);
            // Twelve decimals hide the noise of the subtraction.
            ((1.0 - error) * 1e12).round() / 1e12
        }
        (Unit::Decibel, _) => (metric.value * 10.0).round() / 10.0,
        _ => significant(metric.value),
    }
}

fn significant(value: f64) -> f64 {
    // The formatter rounds in decimal; arithmetic would leave 0.30000000000000004.
    if value.is_finite() { format!("{value:.2e}").parse().unwrap_or(value) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn record(metrics: Vec<Metric>) -> Record {
        Record::new("block::layer00::cosine", Outcome::Passed, "").measured(metrics)
    }

    fn cosine(value: f64) -> Metric {
        Metric::new("cosine", value, Unit::Cosine, Direction::Higher)
    }

    #[test]
    fn times_are_never_compared() {
        let time = |value| Metric::new("time", value, Unit::Milliseconds, Direction::Lower);
        let mut baseline = Baseline::empty("m", "emu");
        baseline.accept(&record(vec![time(1.0)]));
        assert!(baseline.tests.is_empty());
        assert!(!baseline.compare(&record(vec![time(9.0)])).is_change());
    }

    #[test]
    fn a_metric_that_disappears_is_a_change() {
        let mut baseline = Baseline::empty("m", "emu");
        baseline.accept(&record(vec![cosine(0.999)]));
        let comparison = baseline.compare(&record(vec![]));
        assert_eq!(comparison.missing, ["cosine"]);
        assert!(comparison.is_change());
    }

    #[test]
    fn cosines_keep_three_digits_of_their_distance_from_one() {
        let text = |value| round(&cosine(value)).to_string();
        assert_eq!(text(0.999_876_543), "0.999877");
        assert_eq!(text(0.999_999_987_62), "0.9999999876");
    }

    #[test]
    fn a_baseline_survives_a_round_trip_and_refuses_another_device() {
        let folder = tempfile::tempdir().unwrap();
        let path = Baseline::path(folder.path(), "emu");
        let mut baseline = Baseline::empty("m", "emu");
        baseline.accept(&record(vec![cosine(0.999)]));
        baseline.save(&path).unwrap();
        assert_eq!(Baseline::load(&path, "m", "emu").unwrap(), Some(baseline));
        let error = Baseline::load(&path, "m", "xrt").unwrap_err().to_string();
        assert!(error.contains("m on emu") && error.contains("m on xrt"), "{error}");
        assert!(Baseline::load(&folder.path().join("none.json"), "m", "emu").unwrap().is_none());
    }
}

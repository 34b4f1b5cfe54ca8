//! Known failures: gates that a configuration is known to fail, kept with their numbers so
//! that they stay visible and cannot get worse.

use crate::{BaselineValue, Record};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// Version of the format.
pub const KNOWN_FAILURES_SCHEMA: &str = "npugate-known-failures/1";

/// A known failure may exceed its recorded error by this factor, no more.
const MARGIN: f64 = 1.1;

/// The known failures of one model, by device class and test. Written by hand:
/// each needs a reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KnownFailures {
    /// [`KNOWN_FAILURES_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = KNOWN_FAILURES_SCHEMA)))]
    pub schema: String,
    /// `{device class: {test: failure}}`.
    pub devices: BTreeMap<String, BTreeMap<String, KnownFailure>>,
}

/// One test that a device class is known to fail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KnownFailure {
    /// Why it fails: the kernel or the arithmetic that causes it.
    pub reason: String,
    /// The day it was recorded, `YYYY-MM-DD`.
    pub since: String,
    /// The gated metrics that break their limits, with the values measured.
    pub metrics: BTreeMap<String, BaselineValue>,
}

/// Why known failures cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KnownFailuresError {
    /// The file cannot be read.
    #[error("the known failures cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file is not of this format.
    #[error("{path} does not list known failures: {source}")]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file is of another version.
    #[error("{path} has the format {found}, not {KNOWN_FAILURES_SCHEMA}")]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
    },
}

impl KnownFailures {
    /// Reads the known failures of one device class from the `known-failures.json` of a
    /// fixtures folder; empty if there is no such file.
    ///
    /// # Errors
    ///
    /// An unreadable file, or one of another format.
    pub fn load(
        fixtures: &Path,
        device: &str,
    ) -> Result<BTreeMap<String, KnownFailure>, KnownFailuresError> {
        let path = fixtures.join("known-failures.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.into()),
        };
        let mut known: Self = serde_json::from_str(&text)
            .map_err(|source| KnownFailuresError::Json { path: path.clone(), source })?;
        if known.schema != KNOWN_FAILURES_SCHEMA {
            return Err(KnownFailuresError::Schema { path, found: known.schema });
        }
        Ok(known.devices.remove(device).unwrap_or_default())
    }
}

impl KnownFailure {
    /// Whether a failed record is no worse than this: every metric that breaks
    /// its limit is listed, and its error is within a tenth of the recorded one.
    pub fn covers(&self, record: &Record) -> bool {
        let mut broken = record.metrics.iter().filter(|metric| !metric.within_limit()).peekable();
        // A failure without a number, such as a crash, is never covered.
        broken.peek().is_some()
            && broken.all(|metric| {
                let Some(BaselineValue(value)) = self.metrics.get(&metric.key()) else {
                    return false;
                };
                let mut recorded = metric.clone();
                recorded.value = *value;
                match (metric.error(), recorded.error()) {
                    (Some(error), Some(recorded)) => error <= recorded * MARGIN,
                    _ => false,
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Metric, Outcome, Unit};

    fn record(values: &[(&str, f64)]) -> Record {
        let metric = |(name, value): &(&str, f64)| {
            Metric::new(*name, *value, Unit::Ratio, Direction::Lower).limited(12.0)
        };
        Record::new("logits::prefill", Outcome::Failed, "")
            .measured(values.iter().map(metric).collect())
    }

    fn known() -> KnownFailure {
        KnownFailure {
            reason: "floor rounding".into(),
            since: "2026-11-29".into(),
            metrics: [("kappa_mean".to_owned(), BaselineValue(40.0))].into(),
        }
    }

    #[test]
    fn a_known_failure_covers_the_same_figure_and_a_tenth_more() {
        assert!(known().covers(&record(&[("kappa_mean", 40.0)])));
        assert!(known().covers(&record(&[("kappa_mean", 43.9)])));
        assert!(!known().covers(&record(&[("kappa_mean", 44.1)])));
        assert!(!known().covers(&record(&[("kappa_mean", f64::NAN)])));
    }

    #[test]
    fn another_metric_that_breaks_its_limit_is_not_covered() {
        assert!(known().covers(&record(&[("kappa_mean", 40.0), ("kappa_p95", 11.0)])));
        assert!(!known().covers(&record(&[("kappa_mean", 40.0), ("kappa_p95", 31.0)])));
        assert!(!known().covers(&record(&[])), "a failure without numbers");
    }
}

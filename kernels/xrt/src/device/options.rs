//! Which device to open, and how long to wait for its runs.

use npugate_schema::{DurationError, format_duration, parse_duration};
use std::{env, fmt, str::FromStr, time::Duration};

/// The environment variable that sets the deadline of a run, such as `30s` or `500ms`.
pub const DEADLINE_VAR: &str = "NPUGATE_RUN_DEADLINE";

/// How to open an [`XrtDevice`](super::XrtDevice).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct XrtOptions {
    /// The index of the device in XRT; the first is 0.
    pub index: u32,
    /// How long the host waits for a run.
    pub deadline: RunDeadline,
}

/// How long the host waits for a run. The default of 30 s is longer than any
/// driver lets a run take (2 s, older ones 16 s), so that the driver's own report comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RunDeadline(Duration);

/// An environment variable that is not a deadline.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{DEADLINE_VAR} cannot be used: {0}")]
pub struct InvalidDeadline(#[from] DurationError);

impl RunDeadline {
    /// The deadline that the environment names, or the default.
    ///
    /// # Errors
    /// If [`DEADLINE_VAR`] is set to something that is not a deadline.
    pub fn from_env() -> Result<Self, InvalidDeadline> {
        match env::var(DEADLINE_VAR) {
            Ok(text) if !text.is_empty() => Ok(text.parse()?),
            _ => Ok(Self::default()),
        }
    }

    /// The deadline as a duration.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl Default for RunDeadline {
    fn default() -> Self {
        Self(Duration::from_secs(30))
    }
}

impl FromStr for RunDeadline {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        parse_duration(text).map(Self)
    }
}

impl fmt::Display for RunDeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_written_as_durations_are() {
        for text in ["30s", "500ms", "1s 500ms", "2m"] {
            assert_eq!(text.parse::<RunDeadline>().unwrap().to_string(), text);
        }
        assert_eq!(RunDeadline::default().to_string(), "30s");
        assert_eq!("2s".parse::<RunDeadline>().unwrap().duration(), Duration::from_secs(2));
    }

    #[test]
    fn a_variable_that_is_not_a_deadline_is_named() {
        for text in ["", "30", "0s", "soon"] {
            let error = InvalidDeadline(text.parse::<RunDeadline>().unwrap_err()).to_string();
            let expected =
                format!("NPUGATE_RUN_DEADLINE cannot be used: `{text}` is not a duration");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

//! Which device to open, and how long to wait for its runs.

use std::{env, fmt, num::NonZero, str::FromStr, time::Duration};

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

/// How long the host waits for a run, in whole milliseconds. The default of 30 s is longer than any
/// driver lets a run take (2 s, older ones 16 s), so that the driver's own report comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RunDeadline(NonZero<u32>);

/// Text that is not a deadline.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not a deadline; write a whole number of seconds or milliseconds above 0, such as `30s` or `500ms`"
)]
pub struct InvalidDeadline(String);

impl RunDeadline {
    /// The deadline that the environment names, or the default.
    ///
    /// # Errors
    /// If [`DEADLINE_VAR`] is set to something that is not a deadline.
    pub fn from_env() -> Result<Self, InvalidDeadline> {
        match env::var(DEADLINE_VAR) {
            Ok(text) if !text.is_empty() => text.parse(),
            _ => Ok(Self::default()),
        }
    }

    /// The deadline as a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0.get() as u64)
    }
}

impl Default for RunDeadline {
    fn default() -> Self {
        Self(NonZero::<u32>::MIN.saturating_add(29_999))
    }
}

impl FromStr for RunDeadline {
    type Err = InvalidDeadline;

    fn from_str(text: &str) -> Result<Self, InvalidDeadline> {
        let invalid = || InvalidDeadline(text.to_owned());
        let (number, unit) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
            (Some(number), _) => (number, 1),
            (None, Some(number)) => (number, 1000),
            (None, None) => return Err(invalid()),
        };
        let number: u32 = number.parse().map_err(|_| invalid())?;
        number.checked_mul(unit).and_then(NonZero::new).map(Self).ok_or_else(invalid)
    }
}

impl fmt::Display for RunDeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get() {
            milliseconds if milliseconds % 1000 == 0 => write!(f, "{}s", milliseconds / 1000),
            milliseconds => write!(f, "{milliseconds}ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_print_as_they_were_written() {
        for text in ["30s", "500ms", "1500ms", "7s"] {
            assert_eq!(text.parse::<RunDeadline>().unwrap().to_string(), text);
        }
        assert_eq!(RunDeadline::default().to_string(), "30s");
        assert_eq!("2s".parse::<RunDeadline>().unwrap().duration(), Duration::from_secs(2));
    }

    #[test]
    fn what_is_not_a_deadline_is_refused() {
        for text in ["", "30", "0s", "-1s", "1m", "s", "1.5s", "99999999999ms", "4294968s"] {
            let error = text.parse::<RunDeadline>().unwrap_err();
            assert!(error.to_string().contains("`500ms`"), "{error}");
        }
    }
}

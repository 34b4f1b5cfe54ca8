//! A duration as people write it: `60s`, `10m`, `1h 30m`.

use jiff::SignedDuration;
use serde::Deserialize;
use std::{fmt, str::FromStr, time::Duration};

/// A duration, longer than none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(Duration);

/// A text that is no duration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no duration; it is a number above zero and a unit, such as `60s`, `10m` or `1h 30m`"
)]
pub struct SpanError(String);

impl Span {
    /// A duration; none if it is zero.
    pub fn new(duration: Duration) -> Option<Self> {
        Some(Self(duration)).filter(|span| !span.0.is_zero())
    }

    /// How long it is.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        // ISO 8601 is not what anybody means who types a `P`.
        let friendly = text.starts_with(|c: char| c.is_ascii_digit());
        let duration = text.parse::<SignedDuration>().ok().filter(|_| friendly);
        duration
            .and_then(|duration| Duration::try_from(duration).ok())
            .and_then(Self::new)
            .ok_or_else(|| SpanError(text.to_owned()))
    }
}

impl TryFrom<String> for Span {
    type Error = SpanError;

    fn try_from(text: String) -> Result<Self, SpanError> {
        text.parse()
    }
}

impl fmt::Display for Span {
    /// As it can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SignedDuration::try_from(self.0) {
            Ok(duration) => write!(f, "{duration:#}"),
            Err(_) => write!(f, "{}s", self.0.as_secs()),
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A duration, such as 60s, 10m or 1h 30m.",
            "pattern": "^[0-9]",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in
            [("60s", 60), ("10m", 600), ("1h30m", 5400), ("1h 30m", 5400), ("2 minutes", 120)]
        {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.duration(), Duration::from_secs(seconds), "{text}");
            assert_eq!(span.to_string().parse(), Ok(span), "{text}");
        }
        assert_eq!("500ms".parse::<Span>().unwrap().duration(), Duration::from_millis(500));
        assert_eq!("90s".parse::<Span>().unwrap().to_string(), "1m 30s");
    }

    #[test]
    fn what_is_no_duration_or_none_is_refused() {
        for text in ["", "60", "s", "0s", "-1s", "1s ago", "ten", "PT1M", "1 fortnight"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no duration; ")), "{error}");
        }
    }
}

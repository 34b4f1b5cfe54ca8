//! A duration that was typed or is in the configuration: `60s`, `10m`, `1h 30m`.

use npugate_schema::{DurationError, format_duration, parse_duration};
use serde::Deserialize;
use std::{fmt, str::FromStr, time::Duration};

/// A duration that is longer than zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(Duration);

impl Span {
    /// A span of this duration, or `None` if it is zero.
    pub fn new(duration: Duration) -> Option<Self> {
        Some(Self(duration)).filter(|span| !span.0.is_zero())
    }

    /// How long it is.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Span {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        // The grammar has no zero durations.
        parse_duration(text).map(Self)
    }
}

impl TryFrom<String> for Span {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, DurationError> {
        text.parse()
    }
}

impl fmt::Display for Span {
    /// Writes it in the form that can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(self.0))
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
    fn a_span_is_read_and_written_as_durations_are() {
        let span: Span = "1h30m".parse().unwrap();
        assert_eq!((span.duration(), &*span.to_string()), (Duration::from_mins(90), "1h 30m"));
        assert_eq!(Span::try_from("0s".to_owned()).unwrap_err().text, "0s");
        assert_eq!(Span::new(Duration::ZERO), None);
    }
}

//! A length of time as it is typed and written in files: `90s`, `1m 30s`, `500ms`.

use jiff::SignedDuration;
use std::{fmt, str::FromStr, time::Duration};

/// A length of time that is not zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Span(pub Duration);

/// Why a text is no length of time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no length of time: write `90s`, `10m` or `1m 30s`")]
pub struct SpanError(String);

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let bad = || SpanError(text.to_owned());
        let signed: SignedDuration = text.parse().map_err(|_| bad())?;
        let span = Duration::try_from(signed).map_err(|_| bad())?;
        if span.is_zero() { Err(bad()) } else { Ok(Self(span)) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SignedDuration::try_from(self.0) {
            Ok(signed) => write!(f, "{signed:#}"),
            Err(_) => write!(f, "{}s", self.0.as_secs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_as_people_write_it_and_reads_back() {
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("10m", 600_000),
            ("1m 30s", 90_000),
            ("500ms", 500),
            ("1h", 3_600_000),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.0, Duration::from_millis(milliseconds), "{text}");
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
    }

    #[test]
    fn what_is_no_length_of_time_is_refused() {
        for text in ["", "0s", "-5s", "90", "s", "ten minutes", "10 parsecs"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no length of time")), "{error}");
        }
    }
}

//! Durations as people write them: `60s`, `10m`, `1h 30m`. One grammar for
//! command lines, environment variables, settings and profiles.

use std::time::Duration;

/// A text that is not a duration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is not a duration; write a number above zero and a unit, such as `60s`, `10m` or `1h 30m`"
)]
pub struct DurationError {
    /// The text.
    pub text: String,
}

/// A unit: its names, the first of which is printed, and its nanoseconds.
struct Unit {
    names: &'static [&'static str],
    nanos: u128,
}

/// The units, the longest first.
const UNITS: [Unit; 6] = [
    Unit { names: &["h", "hr", "hrs", "hour", "hours"], nanos: HOUR },
    Unit { names: &["m", "min", "mins", "minute", "minutes"], nanos: MINUTE },
    Unit { names: &["s", "sec", "secs", "second", "seconds"], nanos: SECOND },
    Unit {
        names: &["ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"],
        nanos: 1_000_000,
    },
    Unit {
        names: &[
            "\u{b5}s",
            "\u{b5}sec",
            "\u{b5}secs",
            "us",
            "usec",
            "usecs",
            "micro",
            "micros",
            "microsecond",
            "microseconds",
        ],
        nanos: 1_000,
    },
    Unit {
        names: &["ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"],
        nanos: 1,
    },
];

const SECOND: u128 = 1_000_000_000;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;

/// Reads a duration: numbers with units from hours (`h`) down to nanoseconds (`ns`), each
/// unit at most once and the longest first, as in `1h 30m`; or hours, minutes and seconds as
/// on a clock, `1:30:00`. The last number may have a fraction: `1.5h`. Units have their usual
/// names, such as `m`, `min` and `minutes`.
///
/// # Errors
///
/// Anything else: a number without a unit, a sign, a duration of zero.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let duration = nanos(text).and_then(|nanos| {
        let seconds = u64::try_from(nanos / SECOND).ok()?;
        let below = u32::try_from(nanos % SECOND).ok()?;
        Some(Duration::new(seconds, below))
    });
    duration
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| DurationError { text: text.to_owned() })
}

/// Formats a duration so that [`parse_duration`] reads it back, except for zero: `1h 30m`,
/// `500ms`, `0s`.
pub fn format_duration(duration: Duration) -> String {
    let mut rest = duration.as_nanos();
    let mut words = Vec::new();
    for unit in &UNITS {
        let count = rest / unit.nanos;
        rest %= unit.nanos;
        if count > 0 {
            words.push(format!("{count}{}", unit.names[0]));
        }
    }
    if words.is_empty() { "0s".to_owned() } else { words.join(" ") }
}

/// The nanoseconds of a duration.
fn nanos(text: &str) -> Option<u128> {
    let (mut value, mut rest) = integer(text)?;
    if let Some(minutes) = rest.strip_prefix(':') {
        return clock(value, minutes);
    }
    let mut units = UNITS.iter();
    let mut total = 0u128;
    loop {
        let (fraction, after) = fraction(rest)?;
        let (nanos, after) = unit(after.trim_start_matches(blank), &mut units)?;
        total = total.checked_add(value.checked_mul(nanos)?)?;
        if let Some(fraction) = fraction {
            // A nanosecond cannot be divided.
            total = total.checked_add(fraction * nanos / SECOND).filter(|_| nanos > 1)?;
            return after.trim_start_matches(blank).is_empty().then_some(total);
        }
        // A comma stands between two numbers, with a blank after it.
        let next = match after.strip_prefix(',') {
            Some(after) => after.strip_prefix(blank)?.trim_start_matches(blank),
            None => after.trim_start_matches(blank),
        };
        if next.is_empty() && !after.starts_with(',') {
            return Some(total);
        }
        (value, rest) = integer(next)?;
    }
}

/// Minutes and seconds after the first colon of a clock's `1:30:00`.
fn clock(hours: u128, text: &str) -> Option<u128> {
    let (minutes, rest) = integer(text)?;
    let (seconds, rest) = integer(rest.strip_prefix(':')?)?;
    let (fraction, rest) = fraction(rest)?;
    if !rest.trim_start_matches(blank).is_empty() {
        return None;
    }
    let parts = [(hours, HOUR), (minutes, MINUTE), (seconds, SECOND), (fraction.unwrap_or(0), 1)];
    parts
        .into_iter()
        .try_fold(0u128, |sum, (count, nanos)| sum.checked_add(count.checked_mul(nanos)?))
}

/// The digits at the start of a text as a number, and what follows them.
fn integer(text: &str) -> Option<(u128, &str)> {
    let (digits, rest) = digits(text);
    Some((digits.parse().ok()?, rest))
}

/// A fraction in billionths, if there is one, and what follows it. At most nine digits.
fn fraction(text: &str) -> Option<(Option<u128>, &str)> {
    let Some(text) = text.strip_prefix(['.', ',']) else { return Some((None, text)) };
    let (digits, rest) = digits(text);
    if !(1..=9).contains(&digits.len()) {
        return None;
    }
    Some((format!("{digits:0<9}").parse().ok(), rest))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The nanoseconds of the unit at the start of a text, which is one of those that are left,
/// and what follows it.
fn unit<'a>(text: &'a str, left: &mut std::slice::Iter<'_, Unit>) -> Option<(u128, &'a str)> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let unit = left.find(|unit| unit.names.contains(&word))?;
    Some((unit.nanos, rest))
}

fn blank(c: char) -> bool {
    c.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("60s", 60),
            ("10m", 600),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("1h, 30m", 5400),
            ("1.5 hours", 5400),
            ("2 minutes", 120),
            ("1:30:00", 5400),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.25ms"), Ok(Duration::from_micros(1250)));
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in ["", "60", "s", "0s", "-1s", "1s ago", "ten", "PT1M", "1 fortnight", "1d"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is not a duration; ")), "{error}");
        }
        for text in [
            "30m 1h",
            "1h 1h",
            "1.5h 1m",
            "1h,30m",
            "1h,",
            "1..5h",
            "1.h",
            "1:30",
            "99999999999999999999h",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_is_read_back_as_it_was_written() {
        for (millis, text) in
            [(90_000, "1m 30s"), (5_400_000, "1h 30m"), (1_500, "1s 500ms"), (86_400_000, "24h")]
        {
            let duration = Duration::from_millis(millis);
            assert_eq!(format_duration(duration), text);
            assert_eq!(parse_duration(text), Ok(duration));
        }
        assert_eq!(format_duration(Duration::ZERO), "0s");
        let longest = Duration::MAX;
        assert_eq!(parse_duration(&format_duration(longest)), Ok(longest));
    }

    /// Texts put together from all that may stand in a duration, and some that may not.
    fn texts() -> Vec<String> {
        let numbers = ["1", "90", "1.5", "2,25", "0", "1.0000000001", "", "-1", "1:02:03", "1:2"];
        let gaps = ["", " ", "  "];
        let units = [
            "h", "hrs", "m", "minutes", "sec", "ms", "\u{b5}s", "usecs", "nanos", "d", "mo", "M",
            "",
        ];
        let mut words = Vec::new();
        for number in numbers {
            for gap in gaps {
                words.extend(units.map(|unit| format!("{number}{gap}{unit}")));
            }
        }
        let seconds = ["30m", "5 s", "1.5s", "7", "ago", "1:02:03"];
        let joints = ["", " ", ", ", ",", " ,"];
        let pairs = words.iter().flat_map(|word| {
            let joined = joints.map(|joint| seconds.map(|second| format!("{word}{joint}{second}")));
            joined.into_iter().flatten()
        });
        let trailing = words.iter().flat_map(|word| [format!("{word} "), format!("{word}, ")]);
        words.iter().cloned().chain(pairs).chain(trailing).collect()
    }

    #[test]
    fn the_grammar_is_the_friendly_one_of_jiff_without_signs_and_zero() {
        let mut read = 0;
        for text in texts() {
            let unsigned = text.starts_with(|c: char| c.is_ascii_digit());
            let theirs = text.parse::<SignedDuration>().ok().filter(|_| unsigned);
            let theirs = theirs.and_then(|duration| Duration::try_from(duration).ok());
            let theirs = theirs.filter(|duration| !duration.is_zero());
            assert_eq!(parse_duration(&text).ok(), theirs, "`{text}`");
            if let Some(duration) = theirs {
                read += 1;
                let printed = SignedDuration::try_from(duration).unwrap();
                assert_eq!(format_duration(duration), format!("{printed:#}"), "`{text}`");
            }
        }
        assert!(read > 300, "{read} texts are durations");
    }
}

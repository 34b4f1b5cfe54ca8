//! How numbers are printed for people: the one formatter of verdicts, reports and tables.

use crate::Unit;

/// Formats a number with this number of significant digits and without trailing zeros; in
/// scientific notation if it is small or large.
///
/// ```
/// # use npugate_schema::significant;
/// assert_eq!(significant(12_345.678, 6), "12345.7");
/// assert_eq!(significant(0.000_012_34, 3), "1.23e-5");
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        // Of either sign.
        "0".to_owned()
    } else if !value.is_finite() {
        value.to_string()
    } else if (1e-3..1e6).contains(&magnitude) {
        // A magnitude of 10 or more leaves fewer digits after the point.
        let decimals = digits as i32 - 1 - magnitude.log10().floor() as i32;
        trimmed(format!("{value:.*}", decimals.max(0) as usize))
    } else {
        format!("{value:.*e}", digits.saturating_sub(1))
    }
}

/// Formats a metric's value without its unit, as in a table: six significant digits, or
/// three in scientific notation.
pub fn format_number(value: f64) -> String {
    let magnitude = value.abs();
    let digits = if magnitude > 0.999 && magnitude < 1.0 {
        // A cosine of 0.99999987 differs from 1 in its seventh digit.
        9
    } else if (1e-3..1e6).contains(&magnitude) {
        6
    } else {
        3
    };
    significant(value, digits)
}

impl Unit {
    /// Formats a value with the digits that are usual for this unit, as in a verdict.
    pub fn format(self, value: f64) -> String {
        match self {
            Self::Count if value.abs() >= 1.0 || value == 0.0 => format!("{value:.0}"),
            Self::Cosine => trimmed(format!("{value:.6}")),
            Self::Decibel => format!("{value:.1} dB"),
            Self::Milliseconds => format!("{value:.1} ms"),
            Self::PerSecond if value.abs() >= 0.1 => format!("{value:.1}/s"),
            Self::Ratio | Self::ScaleError | Self::Bias
                if (0.01..1000.0).contains(&value.abs()) =>
            {
                trimmed(format!("{value:.3}"))
            }
            _ if value == 0.0 => "0".to_owned(),
            _ => format!("{value:.2e}"),
        }
    }
}

/// Removes trailing zeros, and a trailing point.
fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_what_distinguishes_them() {
        assert_eq!(format_number(0.999_876_543), "0.999876543");
        assert_eq!(format_number(0.25), "0.25");
        assert_eq!(format_number(12_345.678), "12345.7");
        assert_eq!(format_number(3.0), "3");
        assert_eq!(format_number(0.000_012_3), "1.23e-5");
        assert_eq!(format_number(-2.5e9), "-2.50e9");
        assert_eq!(format_number(f64::NAN), "NaN");
        assert_eq!(format_number(0.0), "0");
    }

    #[test]
    fn a_value_has_the_digits_of_its_unit() {
        for (unit, value, text) in [
            (Unit::Count, 3.0, "3"),
            (Unit::Count, 0.5, "5.00e-1"),
            (Unit::Cosine, 0.9992, "0.9992"),
            (Unit::Cosine, 1.0, "1"),
            (Unit::Decibel, 40.61, "40.6 dB"),
            (Unit::Milliseconds, 12.34, "12.3 ms"),
            (Unit::PerSecond, 41.27, "41.3/s"),
            (Unit::Ratio, 1.25, "1.25"),
            (Unit::Ratio, 0.001, "1.00e-3"),
            (Unit::Absolute, 0.0, "0"),
            (Unit::Nats, f64::NAN, "NaN"),
        ] {
            assert_eq!(unit.format(value), text, "{unit:?}");
        }
    }
}

//! Measured numbers, as they are printed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A measured number with the digits that were published for it.
///
/// The file holds the shortest decimal of the value; trailing zeros are lost in it, but no table
/// prints fewer than two significant digits.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure(pub f64);

/// Significant digits that every published figure has.
const LEAST_DIGITS: i32 = 2;

impl Figure {
    /// Half a unit of the last printed digit: how far the number that was measured may be from the
    /// one that was printed. Zero for zero.
    pub fn half_unit(self) -> f64 {
        if self.0 == 0.0 {
            return 0.0;
        }
        0.5 * 10_f64.powi(self.exponent() - self.digits() + 1)
    }

    /// Significant digits as printed.
    fn digits(self) -> i32 {
        let text = format!("{:e}", self.0);
        let mantissa = text.split('e').next().unwrap_or_default();
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
        i32::try_from(digits).unwrap_or(i32::MAX).max(LEAST_DIGITS)
    }

    fn exponent(self) -> i32 {
        let text = format!("{:e}", self.0);
        text.split('e').nth(1).and_then(|exponent| exponent.parse().ok()).unwrap_or_default()
    }

    /// Whether this can be the size of something.
    pub(super) fn is_sound(self) -> bool {
        self.0.is_finite() && self.0 >= 0.0
    }
}

/// With the digits that were published: `9.3e-3`, `1.0e-2`, `0`.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 {
            return f.pad("0");
        }
        let decimals = usize::try_from(self.digits() - 1).unwrap_or_default();
        f.pad(&format!("{:.decimals$e}", self.0))
    }
}

/// The figures of a row. Those that were not measured are absent.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figures {
    /// `mean |y - r| / mean |r|`, y the output and r the f32 reference (narrowed for bf16 outputs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rel_l1: Option<Figure>,
    /// `max |y - r| / |r|`: large where a reference is near zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rel: Option<Figure>,
    /// `max |y - r|`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_abs: Option<Figure>,
    /// Pearson correlation of y and r.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Figure>,
    /// Billions of floating-point operations a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gflops: Option<Figure>,
    /// Billions of bytes read and written a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gbps: Option<Figure>,
}

impl Figures {
    /// The figures that are present, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Figure)> {
        [
            ("mean_rel_l1", self.mean_rel_l1),
            ("max_rel", self.max_rel),
            ("max_abs", self.max_abs),
            ("correlation", self.correlation),
            ("gflops", self.gflops),
            ("gbps", self.gbps),
        ]
        .into_iter()
        .filter_map(|(name, figure)| Some((name, figure?)))
    }

    /// How fast: `gflops` or `gbps`, depending on the kernel.
    pub fn speed(&self) -> Option<Figure> {
        self.gflops.or(self.gbps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_digits_that_were_printed_of_it_and_at_least_two() {
        for (value, text, half_unit) in [
            (0.0093, "9.3e-3", 0.000_05),
            (0.01, "1.0e-2", 0.000_5),
            (0.009_570_8, "9.5708e-3", 0.000_000_05),
            (0.015, "1.5e-2", 0.000_5),
            (1300.0, "1.3e3", 50.0),
            (0.0, "0", 0.0),
        ] {
            let figure = Figure(value);
            assert_eq!(figure.to_string(), text);
            assert!((figure.half_unit() - half_unit).abs() <= 1e-9 * half_unit, "{text}");
        }
    }

    #[test]
    fn neither_nan_nor_a_negative_number_is_a_size() {
        assert!(Figure(0.0).is_sound());
        for value in [f64::NAN, f64::INFINITY, -1e-9] {
            assert!(!Figure(value).is_sound(), "{value}");
        }
    }
}

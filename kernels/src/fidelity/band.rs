//! How near a figure of the emulator must be to silicon's.

use std::fmt;

use super::compare::Found;
use crate::registry::figures::Figure;

/// Which figures agree with a published one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Band {
    /// `mean_rel_l1` from `low` to `high`, both included.
    Error {
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// At most `limit` outputs differ from the reference, each by one unit of bf16's last place.
    Flips {
        /// Most outputs.
        limit: usize,
    },
}

/// Flips that are allowed even if none is expected.
const FLIPS_FLOOR: f64 = 2.0;
/// Standard deviations above the mean of a Poisson count that are allowed.
const FLIPS_DEVIATIONS: f64 = 3.0;

impl Band {
    /// The band around a published `mean_rel_l1`: `share` of it, and half a unit of its last
    /// printed digit.
    pub(crate) fn around(published: Figure, share: f64) -> Self {
        let Figure(value) = published;
        let width = share * value + published.half_unit();
        Self::Error { low: value - width, high: value + width }
    }

    /// The band of a kernel whose datapath is known in every step: 1 %.
    pub(crate) fn of_known_steps(published: Figure) -> Self {
        Self::around(published, 0.01)
    }

    /// The band of a kernel that uses tanh, whose model is fitted: 5 %.
    pub(crate) fn of_fitted_tanh(published: Figure) -> Self {
        Self::around(published, 0.05)
    }

    /// The band of a kernel whose published error is only a few outputs whose last bit flips by
    /// chance: the number of flips that chance allows if `expected` are expected.
    pub(crate) fn flips(expected: f64) -> Self {
        let limit = FLIPS_FLOOR + expected + FLIPS_DEVIATIONS * expected.sqrt();
        Self::Flips { limit: limit as usize }
    }

    /// Whether what was found meets the band. NaN never does.
    pub fn holds(&self, found: &Found) -> bool {
        match *self {
            Self::Error { low, high } => low <= found.mean_rel_l1 && found.mean_rel_l1 <= high,
            Self::Flips { limit } => found.differing <= limit && found.worst_ulps <= 1.0,
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error { low, high } => f.pad(&format!("{low:.3e} to {high:.3e}")),
            Self::Flips { limit } => f.pad(&format!("at most {limit} flips")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mean_rel_l1: f64) -> Found {
        Found {
            mean_rel_l1,
            max_rel: 0.0,
            max_abs: 0.0,
            correlation: 1.0,
            differing: 0,
            worst_ulps: 0.0,
            outputs: 1,
        }
    }

    #[test]
    fn a_band_is_a_share_of_the_figure_and_half_a_digit() {
        // 1.9e-3: 1 % is 1.9e-5, half a digit 5e-5.
        let band = Band::of_known_steps(Figure(0.0019));
        assert!(band.holds(&found(0.001_968)) && !band.holds(&found(0.001_970)), "{band}");
        assert!(band.holds(&found(0.001_832)) && !band.holds(&found(0.001_830)), "{band}");
        // 8.41e-3: 5 % is 4.205e-4, half a digit 5e-6.
        let band = Band::of_fitted_tanh(Figure(0.00841));
        assert!(band.holds(&found(0.008_835)) && !band.holds(&found(0.008_836)), "{band}");
        assert!(!band.holds(&found(f64::NAN)));
    }
}

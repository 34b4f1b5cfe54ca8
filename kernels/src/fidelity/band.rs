//! How near a figure of the emulator must be to silicon's.

use std::fmt;

use super::Found;
use crate::{Gemv, Kernel, Op, registry::Figure};

/// What meets a published figure.
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

/// Expected flips of an output of a GEMV at K = 2048.
///
/// Each of the 64 f32 lanes adds K / 64 terms, and each addition is off by up to `2^-24` of the sum
/// so far: together by some `2^-23` of a typical output. The result flips if the boundary between
/// two bf16 values, `2^-8` of the output apart, lies in between. That is once in `2^15` outputs of
/// typical size; small outputs flip in proportion to `1 / |y|`, whose mean over a normal
/// distribution, cut off where the error is as large as the step, adds a factor of about 4.
const FLIPS_PER_OUTPUT: f64 = 1.0 / 8192.0;
/// The error of a lane grows with the root of its terms.
const FLIPS_K: f64 = 2048.0;
/// Flips that are let pass where none is expected.
const FLIPS_FLOOR: f64 = 2.0;
/// Standard deviations of a Poisson count above its mean that are let pass.
const FLIPS_DEVIATIONS: f64 = 3.0;

impl Band {
    /// The band around a published `mean_rel_l1` of `op`: a share of it, and half a unit of its
    /// last printed digit.
    ///
    /// The share is 1 % where every step of the datapath is known. It is 2 % for attention, whose
    /// merge of the stages is inferred, and 5 % for SiLU and GELU, whose tanh is fitted. A GEMV's
    /// figure is nothing but the few outputs whose last bit flips with the order of summation, and
    /// the registry's reference was a host's BLAS: which outputs flip is chance, so their number is
    /// bounded instead, by what chance allows ([`Band::Flips`]).
    pub fn of(op: &Op, published: Figure) -> Self {
        let share = match op.kind() {
            Kernel::Gemv => return Self::flips(op),
            Kernel::Gemm
            | Kernel::RmsNorm
            | Kernel::LayerNorm
            | Kernel::Softmax
            | Kernel::Rope
            | Kernel::Add => 0.01,
            Kernel::FlashAttention => 0.02,
            Kernel::SiluMul | Kernel::Gelu => 0.05,
        };
        let Figure(value) = published;
        let width = share * value + published.half_unit();
        Self::Error { low: value - width, high: value + width }
    }

    fn flips(op: &Op) -> Self {
        let expected = match *op {
            Op::Gemv(Gemv { m, k }) => m as f64 * FLIPS_PER_OUTPUT * (k as f64 / FLIPS_K).sqrt(),
            _ => 0.0,
        };
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
    use crate::{Add, Gelu};

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
        let op = Op::Add(Add { rows: 1, cols: 1 });
        // 1.9e-3: 1 % is 1.9e-5, half a digit 5e-5.
        let band = Band::of(&op, Figure(0.0019));
        assert!(band.holds(&found(0.001_968)) && !band.holds(&found(0.001_970)), "{band}");
        assert!(band.holds(&found(0.001_832)) && !band.holds(&found(0.001_830)), "{band}");
        // 8.41e-3: 5 % is 4.205e-4, half a digit 5e-6.
        let band = Band::of(&Op::Gelu(Gelu { rows: 1, cols: 1 }), Figure(0.00841));
        assert!(band.holds(&found(0.008_835)) && !band.holds(&found(0.008_836)), "{band}");
        assert!(!band.holds(&found(f64::NAN)));
    }

    #[test]
    fn a_gemv_may_flip_a_few_outputs_by_one_unit_each() {
        let gemv = |m, k| Band::of(&Op::Gemv(Gemv { m, k }), Figure(0.0));
        // Two expected of 16,384 outputs at K = 2048: 2 + 2 + 3 * sqrt(2) = 8.2.
        assert_eq!(gemv(16_384, 2048), Band::Flips { limit: 8 });
        assert_eq!(gemv(128, 896), Band::Flips { limit: 2 });
        let flips = |differing, worst_ulps| Found { differing, worst_ulps, ..found(1e-8) };
        assert!(gemv(16_384, 2048).holds(&flips(8, 1.0)));
        assert!(!gemv(16_384, 2048).holds(&flips(9, 1.0)));
        assert!(!gemv(16_384, 2048).holds(&flips(1, 2.0)));
        assert!(!gemv(16_384, 2048).holds(&flips(1, f64::INFINITY)), "NaN");
    }
}

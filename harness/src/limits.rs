//! The limits of the gates, in one place, each with its source. None of them is
//! a setting: a limit that a user could loosen is not a gate.

use crate::PrecisionProfile;

/// How many entries of a ranking the token gate looks at. MLIR-AIR's verify
/// subsystem and vLLM's `check_logprobs_close` use 5.
pub const TOP_K: usize = 5;

/// A chosen token outside of this many best tokens of the reference is garbage
/// whatever else holds. Tenstorrent's rule; correct ports were never outside
/// in 2,048 positions.
pub const GARBAGE_RANK: usize = 100;

/// Whole-tensor cosine of a block's output: MLIR-AIR's phase 2.
pub const BLOCK_COSINE: f64 = 0.99;

/// Deviation of a kernel's or a sub-block's scale from 1. AWS Neuron's norm
/// ratio band; a doubled output has 1.0 here and a cosine of 1.
pub const SLOPE: f64 = 0.02;

/// The same for one row, column or head of a kernel's output: below the 5 % that
/// one wrong factor in one head makes.
pub const SLICE_SLOPE: f64 = 0.04;

/// `abs(mean(y - r)) / rms(y - r)` of a kernel that rounds to nearest. Over 4,096
/// and more elements rounding to nearest stays below 0.05 (1 / sqrt(4096) is
/// 0.016), rounding toward minus infinity has 0.68.
pub const BIAS: f64 = 0.1;

/// A bias over fewer elements is noise.
pub const BIAS_LENGTH: usize = 4096;

/// How much lower than the whole output's floor the SQNR of one row or column
/// may be, in decibels. A dead row has 0 dB; rows of a correct output scatter
/// by a fraction of this.
pub const SLICE_MARGIN_DB: f64 = 6.0;

/// Slices with fewer elements than this are too noisy to gate.
pub const SLICE_LENGTH: usize = 64;

/// Lowest per-position cosine of a block's output, by head width: MLIR-AIR's
/// phase 2.
pub fn block_position_cosine(head_dim: usize) -> f64 {
    match head_dim {
        0..=64 => 0.99,
        65..=128 => 0.98,
        _ => 0.97,
    }
}

/// Limits on `R = |y - r| / |yardstick - r|` of a sub-block on injected inputs,
/// where the yardstick is the reference with the kernels' declared arithmetic:
/// b itself for bf16 kernels, q for BFP16 ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InjectedLimits {
    /// Median over positions.
    pub median: f64,
    /// 95th percentile over positions.
    pub p95: f64,
    /// Median over positions of the worst head.
    pub head_median: f64,
}

/// Correct ports measure at most 0.90 (median) and 1.60 (95th percentile)
/// against a yardstick of their own arithmetic; the localised faults of the
/// study start at 4.7. With a yardstick of the declared arithmetic the limits
/// need not depend on it. Where there is none (a declared bf16 accumulator
/// against plain b), they are wider.
pub fn injected(profile: PrecisionProfile) -> InjectedLimits {
    let (median, p95, head_median) = match profile {
        PrecisionProfile::Bf16 | PrecisionProfile::Bfp16 => (2.0, 4.0, 3.0),
        PrecisionProfile::Bf16Acc => (3.0, 6.0, 4.5),
    };
    InjectedLimits { median, p95, head_median }
}

/// Limits on the divergence from r, in units of the yardstick's own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KappaLimits {
    /// `mean KL(r, y) / mean KL(r, yardstick)`.
    pub mean: f64,
    /// The ratio of the 95th percentiles.
    pub p95: f64,
}

/// Against a yardstick of their own arithmetic, correct ports measure 0.5 to
/// 0.8; seven faults 2.1 to 206. Where there is no such yardstick (a declared
/// bf16 accumulator against plain b, measured 1.4), the limit is wider.
pub fn kappa(profile: PrecisionProfile) -> KappaLimits {
    let mean = match profile {
        PrecisionProfile::Bf16 | PrecisionProfile::Bfp16 => 2.0,
        PrecisionProfile::Bf16Acc => 4.0,
    };
    KappaLimits { mean, p95: 2.5 * mean }
}

/// The share of positions whose flip of the best token may exceed the
/// yardstick's own noise: none in bf16, one in a hundred in coarser arithmetic.
pub fn flips_beyond_noise(profile: PrecisionProfile) -> f64 {
    match profile {
        PrecisionProfile::Bf16 => 0.0,
        PrecisionProfile::Bf16Acc | PrecisionProfile::Bfp16 => 0.01,
    }
}

/// A flip is within the yardstick's noise if b itself sees a gap of at most this
/// many times the largest `abs(yardstick - r)` among the best tokens. Correct
/// ports reach 2.0, a bf16 accumulator 3.0; of the flips of a truncating port
/// 8 % exceed 3, of one with wrong RoPE 64 %.
pub const FLIP_NOISE: f64 = 3.0;

//! The limits of the gates, in one place, each with its source. None of them is a
//! setting: a limit that a user can silently loosen is not a gate. Letting a failure
//! pass takes a waiver, which the command keeps with a written reason and the day on
//! which it ends.

use crate::PrecisionProfile;

/// The number of entries of a ranking that the token gate looks at. MLIR-AIR's verify
/// subsystem and vLLM's `check_logprobs_close` use 5.
pub const TOP_K: usize = 5;

/// A chosen token that is not among this many best tokens of the reference is garbage in
/// any case. Tenstorrent's rule; correct ports had none in 2,048 positions.
pub const GARBAGE_RANK: usize = 100;

/// The whole-tensor cosine of a block's output: MLIR-AIR's phase 2.
pub const BLOCK_COSINE: f64 = 0.99;

/// The deviation of a kernel's or a sub-block's scale from 1. AWS Neuron's norm ratio
/// band; a doubled output has 1.0 here and a cosine of 1.
pub const SLOPE: f64 = 0.02;

/// The same for one row, column or head of a kernel's output: below the 5 % that one
/// wrong factor in one head causes.
pub const SLICE_SLOPE: f64 = 0.04;

/// `abs(mean(y - r)) / rms(y - r)` of a kernel that rounds to nearest. Over 4,096 or more
/// elements, rounding to nearest stays below 0.05 (1 / sqrt(4096) is 0.016), while
/// rounding toward minus infinity measures 0.68.
pub const BIAS: f64 = 0.1;

/// A bias over fewer elements is noise.
pub const BIAS_LENGTH: usize = 4096;

/// How much lower than the whole output's floor the SQNR of one row or column may be, in
/// decibels: twice the amplitude. A dead row has 0 dB; the noisiest rows of the baselines,
/// FlashAttention's first ones, are 5.9 dB below the whole output.
pub const SLICE_MARGIN_DB: f64 = 6.0;

/// Slices with fewer elements than this are too noisy to gate.
pub const SLICE_LENGTH: usize = 64;

/// The lowest per-position cosine of a block's output, by head width: MLIR-AIR's
/// phase 2.
pub fn block_position_cosine(head_dim: usize) -> f64 {
    match head_dim {
        0..=64 => 0.99,
        65..=128 => 0.98,
        _ => 0.97,
    }
}

/// Limits on `R = |y - r| / |yardstick - r|` of a sub-block on injected inputs,
/// where the yardstick is the reference in the kernels' declared arithmetic:
/// b itself for bf16 kernels, q for BFP16 kernels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InjectedLimits {
    /// Median over positions.
    pub median: f64,
    /// 95th percentile over positions.
    pub p95: f64,
    /// Median over positions of the worst head.
    pub head_median: f64,
}

/// The limits on R for a profile. A correct port has an R near 1 against a yardstick in its
/// own arithmetic: the emulated NPU measures 0.69 to 1.29 on SmolLM2, 1.49 in its worst head
/// (`block::*::injected` in its baseline). AWS Neuron calls 1.2 to 3 suspicious and more a
/// bug, torch's dynamo allows 3, and FlashAttention's own tests allow 2. With a yardstick in
/// the declared arithmetic, the limits do not depend on that arithmetic; without one (a
/// declared bf16 accumulator against plain b), they are wider.
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

/// The limits on kappa for a profile. The emulated NPU measures 0.4 to 1.5 on SmolLM2 if
/// every block is right, and 6.7 with floor rounding (the price table in `README.md`); the
/// faults of `tests/FAULTS.md` measure 17 and more. Without a yardstick in the declared
/// arithmetic (a bf16 accumulator against plain b), the limit is wider.
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

/// A flip is within the yardstick's noise if b itself sees a gap of at most this many
/// times the largest `abs(yardstick - r)` among the best tokens. None of the yardstick's
/// own flips is beyond 0.42 of that on SmolLM2 (20 of 512), and none beyond 0.77 on
/// tiny-llama (73 of 512).
pub const FLIP_NOISE: f64 = 3.0;

/// Limits on the KV cache that decode writes against prefill's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KvLimits {
    /// The lowest cosine of a position in the first layer, whose inputs are the same
    /// embeddings on both sides, so that only the kernels' own rounding differs.
    pub first_layer: f64,
    /// The median of the worst layer.
    pub worst_median: f64,
}

/// The limits on the KV cache for a profile. In the first layer the emulated NPU measures
/// 0.9997 (`consistency::kv_cache` in the baselines), and a slot that is written one
/// position off measures -0.16 (`tests/FAULTS.md`). In the median over later layers, a
/// rotation that is one position off still measures 0.992; decode in bf16 after a prefill
/// in BFP16 measures 0.998.
pub fn kv_cache(profile: PrecisionProfile) -> KvLimits {
    let worst_median = match profile {
        PrecisionProfile::Bf16 | PrecisionProfile::Bf16Acc => 0.999,
        PrecisionProfile::Bfp16 => 0.995,
    };
    KvLimits { first_layer: 0.999, worst_median }
}

//! The arithmetic that a model's kernels declare, which determines the limits.

/// The arithmetic that a model's kernels declare. The limits of the checks depend on
/// it, since a kernel cannot be closer to the truth than its number format allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PrecisionProfile {
    /// bf16 operands, f32 accumulation, one rounding at the end.
    Bf16,
    /// bf16 operands and bf16 partial sums.
    Bf16Acc,
    /// Operands of matrix products in BFP16 (eight values share an exponent):
    /// what AIE2P's "bf16" matrix products are.
    Bfp16,
}

//! Which rounding mode a toolchain leaves on each kernel's core.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    kernel::KernelSpec,
    op::{Op, with_op},
    rounding::Rounding,
};

/// A toolchain that compiles kernels, as far as it affects the arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Toolchain {
    /// Every core rounds to nearest even: what mlir-aie pull request 3587 (2026-08-24) proposes.
    #[serde(rename = "rne")]
    Rne,
    /// The toolchain of the registry's figures (measured 2026-06 to 2026-08): cores whose kernel
    /// sets the mode (GEMM, GEMV, FlashAttention) round to nearest even, every other core is left
    /// at the reset value, floor.
    #[serde(rename = "npu2-2026-06")]
    Npu2_2026_06,
}

impl Toolchain {
    /// All toolchains.
    pub const ALL: [Self; 2] = [Self::Rne, Self::Npu2_2026_06];

    /// The mode that `op` runs under.
    ///
    /// Found by matching each mode to the registry's published accuracy: with
    /// round-to-nearest-even, element-wise add and `RoPE` would equal the reference bit for bit,
    /// where silicon showed 1.9e-3 and 2.8e-3, which are floor's figures.
    pub fn rounding(self, op: &Op) -> Rounding {
        match self {
            Self::Rne => Rounding::NearestEven,
            Self::Npu2_2026_06 => with_op!(op, kernel => kernel.core_rounding()),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Rne => "rne",
            Self::Npu2_2026_06 => "npu2-2026-06",
        }
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no toolchain has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a toolchain; choose `rne` or `npu2-2026-06`")]
pub struct UnknownToolchain(pub String);

impl FromStr for Toolchain {
    type Err = UnknownToolchain;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| UnknownToolchain(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Add, AttentionLayout, FlashAttention, Gelu, Gemm, GemmOutput, Gemv, LayerNorm, Mask,
        RmsNorm, Rope, SiluMul, Softmax,
    };

    #[test]
    fn the_published_toolchain_rounds_to_nearest_where_a_kernel_asks_for_it() {
        let gemm = |output| Op::Gemm(Gemm { m: 8, k: 64, n: 8, output });
        let attention = Op::FlashAttention(FlashAttention {
            tokens: 256,
            heads: 1,
            kv_heads: 1,
            head_dim: 64,
            mask: Mask::Causal,
            layout: AttentionLayout::SeqFirst,
        });
        let (rows, cols, eps) = (1, 16, 1e-5);
        for (op, rounding) in [
            (gemm(GemmOutput::F32External), Rounding::NearestEven),
            (gemm(GemmOutput::F32Direct), Rounding::NearestEven),
            (gemm(GemmOutput::Drain), Rounding::NearestEven),
            (gemm(GemmOutput::Direct), Rounding::NearestEven),
            (gemm(GemmOutput::FusedCast), Rounding::Floor),
            (Op::Gemv(Gemv { m: 1, k: 64 }), Rounding::NearestEven),
            (attention, Rounding::NearestEven),
            (Op::RmsNorm(RmsNorm { rows, cols, eps }), Rounding::Floor),
            (Op::LayerNorm(LayerNorm { rows, cols, eps }), Rounding::Floor),
            (Op::Rope(Rope { tokens: 1, heads: 1, head_dim: 64, rotary_dim: 64 }), Rounding::Floor),
            (Op::SiluMul(SiluMul { rows, cols }), Rounding::Floor),
            (Op::Gelu(Gelu { rows, cols }), Rounding::Floor),
            (Op::Softmax(Softmax { rows, cols }), Rounding::Floor),
            (Op::Add(Add { rows, cols }), Rounding::Floor),
        ] {
            assert_eq!(Toolchain::Npu2_2026_06.rounding(&op), rounding, "{op:?}");
            assert_eq!(Toolchain::Rne.rounding(&op), Rounding::NearestEven, "{op:?}");
        }
    }
}

//! The same kernel on few rows, for a quick look.

use super::{
    Add, FlashAttention, Gelu, Gemm, Gemv, LayerNorm, Op, RmsNorm, Rope, SiluMul, Softmax,
};

/// Rows of a GEMM: a row of eight tiles of 16, the fewest that fill the fabric's columns.
const GEMM_M: usize = 128;

/// Rows of a GEMV's matrix: eight tiles of 16, four times.
const GEMV_M: usize = 512;

/// Tokens of attention: four cascade stages of one 64-key chunk.
const ATTENTION_TOKENS: usize = 256;

/// Rows of everything else: eight tiles, two rows each.
const ROWS: usize = 16;

impl Op {
    /// The same kernel with at most so many rows that a run of it takes no time: what is reduced
    /// over, the width of a row, heads and masks stay. An op that is as small stays as it is, and
    /// one that [`check`](Self::check)s gives one that does.
    ///
    /// A GEMM keeps 128 rows, a GEMV 512, attention 256 tokens, every other kernel 16 rows (`RoPE`:
    /// tokens).
    #[must_use]
    pub fn smoke(&self) -> Self {
        match *self {
            Self::Gemm(op) => Self::Gemm(Gemm { m: op.m.min(GEMM_M), ..op }),
            Self::Gemv(op) => Self::Gemv(Gemv { m: op.m.min(GEMV_M), ..op }),
            Self::FlashAttention(op) => {
                let tokens = op.tokens.min(ATTENTION_TOKENS);
                Self::FlashAttention(FlashAttention { tokens, ..op })
            }
            Self::Rope(op) => Self::Rope(Rope { tokens: op.tokens.min(ROWS), ..op }),
            Self::RmsNorm(op) => Self::RmsNorm(RmsNorm { rows: op.rows.min(ROWS), ..op }),
            Self::LayerNorm(op) => Self::LayerNorm(LayerNorm { rows: op.rows.min(ROWS), ..op }),
            Self::Softmax(op) => Self::Softmax(Softmax { rows: op.rows.min(ROWS), ..op }),
            Self::SiluMul(op) => Self::SiluMul(SiluMul { rows: op.rows.min(ROWS), ..op }),
            Self::Add(op) => Self::Add(Add { rows: op.rows.min(ROWS), ..op }),
            Self::Gelu(op) => Self::Gelu(Gelu { rows: op.rows.min(ROWS), ..op }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::{AttentionLayout, GemmOutput, Mask, Tiling};

    #[test]
    fn rows_shrink_and_everything_else_stays() {
        let gemm = Gemm { m: 2048, k: 1536, n: 576, output: GemmOutput::Direct };
        assert_eq!(Op::Gemm(gemm).smoke(), Op::Gemm(Gemm { m: 128, ..gemm }));
        let gemv = Gemv { m: 49152, k: 576 };
        assert_eq!(Op::Gemv(gemv).smoke(), Op::Gemv(Gemv { m: 512, k: 576 }));
        let attention = FlashAttention {
            tokens: 2048,
            heads: 14,
            kv_heads: 2,
            head_dim: 64,
            mask: Mask::SlidingWindow(512),
            layout: AttentionLayout::HeadsFirst,
        };
        let fewer = FlashAttention { tokens: 256, ..attention };
        assert_eq!(Op::FlashAttention(attention).smoke(), Op::FlashAttention(fewer));
        let rope = Rope { tokens: 2048, heads: 9, head_dim: 128, rotary_dim: 96 };
        assert_eq!(Op::Rope(rope).smoke(), Op::Rope(Rope { tokens: 16, ..rope }));
        let norm = RmsNorm { rows: 2048, cols: 576, eps: 1e-6 };
        assert_eq!(Op::RmsNorm(norm).smoke(), Op::RmsNorm(RmsNorm { rows: 16, ..norm }));
    }

    #[test]
    fn what_is_small_stays_as_it_is() {
        for op in [
            Op::Gemm(Gemm { m: 64, k: 720, n: 32, output: GemmOutput::Drain }),
            Op::Gemv(Gemv { m: 128, k: 896 }),
            Op::Add(Add { rows: 1, cols: 245_760 }),
            Op::SiluMul(SiluMul { rows: 16, cols: 1536 }),
        ] {
            assert_eq!(op.smoke(), op);
        }
    }

    #[test]
    fn every_published_shape_stays_legal_and_can_be_tiled() {
        for row in Registry::published().rows() {
            let op = row.op().unwrap().smoke();
            assert_eq!(op.check(), Ok(()), "{}", row.name());
            assert!(Tiling::propose(&op).is_some(), "{} as {}", row.name(), op.shape_key());
        }
    }
}

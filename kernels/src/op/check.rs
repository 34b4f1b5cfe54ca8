//! Which shapes a kernel can be built for, and what can be wrong with an op or its inputs.

use super::{
    Add, FlashAttention, Gelu, Gemm, Gemv, LayerNorm, Mask, Op, RmsNorm, Rope, SiluMul, Softmax,
};
use crate::DType;

/// An op that no kernel can run, or inputs that are not the op's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// A dimension is zero.
    #[error("{kernel} {shape}: {dimension} is zero; every dimension must be at least 1")]
    Zero {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Name of the dimension.
        dimension: &'static str,
    },
    /// A dimension is not a multiple of what the kernel works in.
    #[error("{kernel} {shape}: {dimension} = {value} is not a multiple of {multiple} ({reason})")]
    NotMultiple {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Name of the dimension.
        dimension: &'static str,
        /// Its value.
        value: usize,
        /// What it must be a multiple of.
        multiple: usize,
        /// Where that comes from.
        reason: &'static str,
    },
    /// A head dimension that no attention kernel is built for.
    #[error(
        "flash_attention {shape}: head_dim = {head_dim} has no kernel; it is built for 64, 128 and 256"
    )]
    HeadDim {
        /// Shape key.
        shape: String,
        /// The head dimension.
        head_dim: usize,
    },
    /// More elements of a head to rotate than it has.
    #[error("rope {shape}: rotary_dim = {rotary_dim} is larger than head_dim = {head_dim}")]
    RotaryDim {
        /// Shape key.
        shape: String,
        /// Elements to rotate.
        rotary_dim: usize,
        /// Elements of a head.
        head_dim: usize,
    },
    /// A wrong number of inputs.
    #[error("{kernel} {shape} reads {expected} operands but {found} were given")]
    InputCount {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Operands that the op reads.
        expected: usize,
        /// Tensors that were given.
        found: usize,
    },
    /// An input of the wrong type or shape.
    #[error(
        "{kernel} {shape} reads {operand} as {dtype}{expected:?} but {found_dtype}{found:?} was given"
    )]
    Input {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Operand name.
        operand: &'static str,
        /// Type of the operand.
        dtype: DType,
        /// Shape of the operand.
        expected: Vec<usize>,
        /// Type that was given.
        found_dtype: DType,
        /// Shape that was given.
        found: Vec<usize>,
    },
}

/// Values of a bf16 vector in code of the compiler.
const VECTOR: usize = 16;
const VECTOR_REASON: &str = "bf16 vectors hold 16 values";

impl Op {
    /// Whether the kernel can be built for this shape at all (not: whether a tiling of it fits the
    /// fabric, which depends on the tile sizes that a build chooses).
    ///
    /// # Errors
    /// [`OpError::Zero`], [`OpError::NotMultiple`], [`OpError::HeadDim`] or [`OpError::RotaryDim`].
    pub fn check(&self) -> Result<(), OpError> {
        match *self {
            Self::Gemm(Gemm { m, k, n, .. }) => {
                self.non_zero(&[("m", m), ("k", k), ("n", n)])?;
                self.multiple("k", k, 8, "BFP16 blocks hold 8 values along K")
            }
            Self::Gemv(Gemv { m, k }) => {
                self.non_zero(&[("m", m), ("k", k)])?;
                self.multiple("k", k, 64, "64 accumulator lanes along K")
            }
            Self::RmsNorm(RmsNorm { rows, cols, .. })
            | Self::LayerNorm(LayerNorm { rows, cols, .. })
            | Self::Softmax(Softmax { rows, cols }) => {
                self.non_zero(&[("rows", rows), ("cols", cols)])?;
                self.multiple("cols", cols, VECTOR, VECTOR_REASON)
            }
            Self::Rope(rope) => self.check_rope(rope),
            Self::FlashAttention(attention) => self.check_attention(attention),
            Self::SiluMul(SiluMul { rows, cols })
            | Self::Add(Add { rows, cols })
            | Self::Gelu(Gelu { rows, cols }) => self.non_zero(&[("rows", rows), ("cols", cols)]),
        }
    }

    /// The part that is rotated is a whole head to the kernel's loop, and the rest is copied in
    /// vectors, so both widths are subject to the rule for a head.
    fn check_rope(&self, rope: Rope) -> Result<(), OpError> {
        let Rope { tokens, heads, head_dim, rotary_dim } = rope;
        self.non_zero(&[("tokens", tokens), ("heads", heads)])?;
        self.non_zero(&[("head_dim", head_dim), ("rotary_dim", rotary_dim)])?;
        self.multiple("head_dim", head_dim, VECTOR, VECTOR_REASON)?;
        self.multiple("rotary_dim", rotary_dim, VECTOR, VECTOR_REASON)?;
        if rotary_dim > head_dim {
            return Err(OpError::RotaryDim { shape: self.shape_key(), rotary_dim, head_dim });
        }
        Ok(())
    }

    fn check_attention(&self, attention: FlashAttention) -> Result<(), OpError> {
        let FlashAttention { tokens, heads, kv_heads, head_dim, .. } = attention;
        self.non_zero(&[("tokens", tokens), ("heads", heads), ("kv_heads", kv_heads)])?;
        if !matches!(head_dim, 64 | 128 | 256) {
            return Err(OpError::HeadDim { shape: self.shape_key(), head_dim });
        }
        self.multiple("heads", heads, kv_heads, "each key head serves a whole group")?;
        self.multiple("tokens", tokens, 256, "4 cascade stages of 64-key chunks")?;
        if let Mask::SlidingWindow(window) = attention.mask {
            self.non_zero(&[("window", window)])?;
            self.multiple("window", window, 64, "keys come in chunks of 64")?;
        }
        Ok(())
    }

    fn non_zero(&self, dimensions: &[(&'static str, usize)]) -> Result<(), OpError> {
        match dimensions.iter().find(|(_, value)| *value == 0) {
            None => Ok(()),
            Some(&(dimension, _)) => {
                Err(OpError::Zero { kernel: self.kernel(), shape: self.shape_key(), dimension })
            }
        }
    }

    fn multiple(
        &self,
        dimension: &'static str,
        value: usize,
        multiple: usize,
        reason: &'static str,
    ) -> Result<(), OpError> {
        if value.is_multiple_of(multiple) {
            return Ok(());
        }
        Err(OpError::NotMultiple {
            kernel: self.kernel(),
            shape: self.shape_key(),
            dimension,
            value,
            multiple,
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AttentionLayout, GemmOutput};

    #[test]
    fn a_legal_shape_passes() {
        let gemm = Gemm { m: 64, k: 576, n: 192, output: GemmOutput::Drain };
        assert_eq!(Op::Gemm(gemm).check(), Ok(()));
    }

    #[test]
    fn an_illegal_shape_says_which_dimension_and_why() {
        let gemm = Op::Gemm(Gemm { m: 64, k: 12, n: 192, output: GemmOutput::Drain });
        let message = gemm.check().unwrap_err().to_string();
        assert!(message.contains("k = 12") && message.contains("8 values along K"), "{message}");
        let attention = FlashAttention {
            tokens: 200,
            heads: 9,
            kv_heads: 3,
            head_dim: 64,
            mask: Mask::Causal,
            layout: AttentionLayout::SeqFirst,
        };
        assert!(matches!(
            Op::FlashAttention(attention).check(),
            Err(OpError::NotMultiple { dimension: "tokens", .. })
        ));
        let attention = FlashAttention { head_dim: 96, ..attention };
        assert!(matches!(Op::FlashAttention(attention).check(), Err(OpError::HeadDim { .. })));
        let windowed = |window| {
            let mask = Mask::SlidingWindow(window);
            Op::FlashAttention(FlashAttention { tokens: 256, head_dim: 64, mask, ..attention })
                .check()
        };
        assert!(matches!(windowed(100), Err(OpError::NotMultiple { dimension: "window", .. })));
        assert!(matches!(windowed(0), Err(OpError::Zero { dimension: "window", .. })));
        assert_eq!(windowed(128), Ok(()));
        let add = Op::Add(Add { rows: 4, cols: 0 });
        assert!(matches!(add.check(), Err(OpError::Zero { dimension: "cols", .. })));
        for op in [
            Op::LayerNorm(LayerNorm { rows: 4, cols: 24, eps: 1e-5 }),
            Op::Softmax(Softmax { rows: 4, cols: 24 }),
        ] {
            assert!(matches!(op.check(), Err(OpError::NotMultiple { dimension: "cols", .. })));
        }
        let gelu = Op::Gelu(Gelu { rows: 0, cols: 4 });
        assert!(matches!(gelu.check(), Err(OpError::Zero { dimension: "rows", .. })));
    }

    #[test]
    fn a_rope_rotates_a_part_of_a_head_but_no_more_than_a_head() {
        let check =
            |rotary_dim| Op::Rope(Rope { tokens: 4, heads: 2, head_dim: 128, rotary_dim }).check();
        assert_eq!((check(96), check(128)), (Ok(()), Ok(())));
        assert!(matches!(check(100), Err(OpError::NotMultiple { dimension: "rotary_dim", .. })));
        assert!(matches!(check(0), Err(OpError::Zero { dimension: "rotary_dim", .. })));
        let message = check(144).unwrap_err().to_string();
        assert!(message.contains("rotary_dim = 144") && message.contains("128"), "{message}");
    }
}

//! The kernels of the registry as values: what a launch computes, on which shapes.
//!
//! Parameters, layouts and legality follow the kernel registry of Xilinx/mlir-air (commit
//! e972f294).

mod attention;
mod check;
mod gemm;
mod kernel;
mod operand;
mod smoke;

use serde::{Deserialize, Serialize};

pub(crate) use attention::Strides;
pub use attention::{AttentionLayout, FlashAttention, Mask};
pub use check::OpError;
pub use gemm::{Gemm, GemmOutput};
pub use kernel::{Kernel, UnknownKernel};
pub use operand::{Access, Operand};

/// A kernel with its shape: what one launch computes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// Matrix product.
    Gemm(Gemm),
    /// Matrix-vector product.
    Gemv(Gemv),
    /// Root-mean-square normalisation of rows.
    RmsNorm(RmsNorm),
    /// Rotary position embedding, half-split.
    Rope(Rope),
    /// Grouped-query attention with an online softmax.
    FlashAttention(FlashAttention),
    /// `silu(gate) * up`.
    SiluMul(SiluMul),
    /// Element-wise sum.
    Add(Add),
    /// Normalisation of rows to mean 0 and variance 1, with weight and bias.
    LayerNorm(LayerNorm),
    /// GELU in its tanh form.
    Gelu(Gelu),
    /// Softmax of rows.
    Softmax(Softmax),
}

/// `y[m] = A[m, k] x[k]`, bf16 in and out, 64 f32 lanes over K, one narrowing; no BFP16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Gemv {
    /// Rows of A, elements of y.
    pub m: usize,
    /// Columns of A, elements of x.
    pub k: usize,
}

/// `y[r, c] = x[r, c] / sqrt(mean_c(x[r, c]^2) + eps) * w[c]`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RmsNorm {
    /// Rows, each normalised by itself.
    pub rows: usize,
    /// Columns: elements of a row and of the weight.
    pub cols: usize,
    /// Added to the mean of squares.
    pub eps: f32,
}

/// Rotary position embedding of `x[tokens, heads * head_dim]`, half-split: element `i` of a head is
/// rotated with element `i + rotary_dim / 2`, and those from `rotary_dim` on stay as they are.
///
/// The table is `lut[tokens, rotary_dim]`, a row being the cosines of the `rotary_dim / 2` angles
/// and then their sines; one row serves all heads of its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Rope {
    /// Tokens: rows of x and of the table.
    pub tokens: usize,
    /// Heads of each token.
    pub heads: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Elements of a head that are rotated, the first ones; at most `head_dim`.
    pub rotary_dim: usize,
}

/// `out = silu(gate) * up`, element-wise on `[rows, cols]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct SiluMul {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// `out = a + b`, element-wise on `[rows, cols]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Add {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// `y[r, c] = (x[r, c] - mean_c(x[r, c])) / sqrt(var_c(x[r, c]) + eps) * w[c] + b[c]`, weight and
/// bias in one operand `wb[2 * cols]`, one after the other: a tile has three streams to memory at
/// most.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayerNorm {
    /// Rows, each normalised by itself.
    pub rows: usize,
    /// Columns: elements of a row, of the weight and of the bias.
    pub cols: usize,
    /// Added to the variance.
    pub eps: f32,
}

/// `y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, element-wise on `[rows, cols]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Gelu {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// `y[r, c] = exp(x[r, c]) / sum_c(exp(x[r, c]))`.
///
/// The kernel registry has no row of it; mlir-air's own harness does, and its tolerance is the one
/// used here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Softmax {
    /// Rows, each a distribution of its own.
    pub rows: usize,
    /// Columns: elements of a row.
    pub cols: usize,
}

impl Op {
    /// Which kernel this is.
    pub fn kind(&self) -> Kernel {
        match self {
            Self::Gemm(_) => Kernel::Gemm,
            Self::Gemv(_) => Kernel::Gemv,
            Self::RmsNorm(_) => Kernel::RmsNorm,
            Self::Rope(_) => Kernel::Rope,
            Self::FlashAttention(_) => Kernel::FlashAttention,
            Self::SiluMul(_) => Kernel::SiluMul,
            Self::Add(_) => Kernel::Add,
            Self::LayerNorm(_) => Kernel::LayerNorm,
            Self::Gelu(_) => Kernel::Gelu,
            Self::Softmax(_) => Kernel::Softmax,
        }
    }

    /// The kernel's name, as in test names: `gemm`, `rms_norm`, ...
    pub fn kernel(&self) -> &'static str {
        self.kind().name()
    }

    /// The shape as in test names: `256x576x1536` (M, K, N), `16384x576` (M, K),
    /// `t256_h9_d64` (`t256_h24_d128_r96` where 96 of 128 are rotated), `s256_d64_q9_kv3_causal`
    /// (`.._causal_w512` with a window, `.._hf` heads first).
    pub fn shape_key(&self) -> String {
        match *self {
            Self::Gemm(Gemm { m, k, n, .. }) => format!("{m}x{k}x{n}"),
            Self::Gemv(Gemv { m, k }) => format!("{m}x{k}"),
            Self::RmsNorm(RmsNorm { rows, cols, .. })
            | Self::SiluMul(SiluMul { rows, cols })
            | Self::Add(Add { rows, cols })
            | Self::LayerNorm(LayerNorm { rows, cols, .. })
            | Self::Gelu(Gelu { rows, cols })
            | Self::Softmax(Softmax { rows, cols }) => format!("{rows}x{cols}"),
            Self::Rope(rope) => rope.shape_key(),
            Self::FlashAttention(attention) => attention.shape_key(),
        }
    }

    /// The registry's accuracy tier, for the kernel that has several (GEMM): `high` or `low`.
    pub fn tier(&self) -> Option<&'static str> {
        match self {
            Self::Gemm(gemm) => Some(gemm.tier()),
            _ => None,
        }
    }
}

impl Rope {
    fn shape_key(&self) -> String {
        let Self { tokens, heads, head_dim, rotary_dim } = *self;
        let whole = format!("t{tokens}_h{heads}_d{head_dim}");
        if rotary_dim == head_dim { whole } else { format!("{whole}_r{rotary_dim}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_keys_are_those_of_the_test_names() {
        let gemm = Op::Gemm(Gemm { m: 2048, k: 1536, n: 576, output: GemmOutput::Direct });
        assert_eq!((gemm.shape_key().as_str(), gemm.tier()), ("2048x1536x576", Some("low")));
        let rope = Rope { tokens: 256, heads: 24, head_dim: 128, rotary_dim: 128 };
        let whole = Op::Rope(rope);
        assert_eq!((whole.shape_key().as_str(), whole.tier()), ("t256_h24_d128", None));
        let partial = Op::Rope(Rope { rotary_dim: 96, ..rope });
        assert_eq!(partial.shape_key(), "t256_h24_d128_r96");
        let attention = FlashAttention {
            tokens: 256,
            heads: 9,
            kv_heads: 3,
            head_dim: 64,
            mask: Mask::Causal,
            layout: AttentionLayout::SeqFirst,
        };
        let key = |attention| Op::FlashAttention(attention).shape_key();
        assert_eq!(key(attention), "s256_d64_q9_kv3_causal");
        assert_eq!(Op::FlashAttention(attention).kernel(), "flash_attention");
        let windowed = FlashAttention { mask: Mask::SlidingWindow(128), ..attention };
        assert_eq!(key(windowed), "s256_d64_q9_kv3_causal_w128");
        let heads_first = FlashAttention { layout: AttentionLayout::HeadsFirst, ..windowed };
        assert_eq!(key(heads_first), "s256_d64_q9_kv3_causal_w128_hf");
    }
}

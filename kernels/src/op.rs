//! The kernels of the registry as values: what a launch computes, on which shapes.
//!
//! Parameters, layouts and legality follow the kernel registry of Xilinx/mlir-air (commit
//! e972f294).

mod check;
mod kernel;
mod operand;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::DType;

pub use check::OpError;
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

/// `C[m, n] = A[m, k] B[k, n]`, bf16 in, BFP16-emulated products, f32 accumulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Gemm {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B: the reduced dimension.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Type of C and where the accumulator is narrowed to it.
    pub output: GemmOutput,
}

/// How a GEMM's f32 accumulator becomes its output: the registry's methods, by its name of each
/// ([`method`](Self::method)) and the type of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GemmOutput {
    /// C is f32 and is accumulated by the hand-written `mm.o` over all of K: no narrowing at all.
    F32External,
    /// C is f32, accumulated by code of the compiler. Its arithmetic is
    /// [`F32External`](Self::F32External)'s: the registry's figures of both are the same at every
    /// shape that it has of both.
    F32Direct,
    /// C is bf16, narrowed once, in the core that accumulated it.
    Drain,
    /// C is bf16, narrowed once, by a separate cast launch on its own core.
    FusedCast,
    /// C is bf16 and is the accumulator too: re-rounded after every [`Gemm::TILE_K_L1`] of K.
    Direct,
}

impl GemmOutput {
    /// All ways.
    pub const ALL: [Self; 5] =
        [Self::F32External, Self::F32Direct, Self::Drain, Self::FusedCast, Self::Direct];

    /// The registry's name of the method, on the page of its output type: two methods are
    /// `direct`, one of each type.
    pub const fn method(self) -> &'static str {
        match self {
            Self::F32External => "external",
            Self::F32Direct | Self::Direct => "direct",
            Self::Drain => "drain",
            Self::FusedCast => "fused-cast",
        }
    }

    /// Element type of C.
    pub const fn dtype(self) -> DType {
        match self {
            Self::F32External | Self::F32Direct => DType::F32,
            Self::Drain | Self::FusedCast | Self::Direct => DType::Bf16,
        }
    }
}

impl Gemm {
    /// K extent of an L1 tile: [`GemmOutput::Direct`] rounds C to bf16 after each.
    pub const TILE_K_L1: usize = 32;

    /// The registry's accuracy tier of this product.
    pub fn tier(&self) -> &'static str {
        match self.output {
            GemmOutput::F32External
            | GemmOutput::F32Direct
            | GemmOutput::Drain
            | GemmOutput::FusedCast => "high",
            GemmOutput::Direct => "low",
        }
    }
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

/// `o = softmax(q k^T / sqrt(head_dim)) v` for each head, keys and values shared by groups of
/// `heads / kv_heads` query heads: multi-head attention where there are as many of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct FlashAttention {
    /// Tokens: queries and keys alike.
    pub tokens: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Which keys a query sees.
    pub mask: Mask,
    /// How the operands lie in memory.
    pub layout: AttentionLayout,
}

/// How the operands of [`FlashAttention`] lie in memory. The values are the same bit for bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttentionLayout {
    /// Token by token: `q, o[tokens, heads * head_dim]` and `k, v[tokens, kv_heads * head_dim]`.
    SeqFirst,
    /// Head by head: `q, o[heads, tokens, head_dim]` and `k, v[kv_heads, tokens, head_dim]`.
    HeadsFirst,
}

impl AttentionLayout {
    /// Elements from one token to the next and from one head to the next, in an operand of `heads`
    /// heads of `head_dim` elements for each of `tokens` tokens.
    pub(crate) fn strides(self, tokens: usize, heads: usize, head_dim: usize) -> Strides {
        match self {
            Self::SeqFirst => Strides { token: heads * head_dim, head: head_dim },
            Self::HeadsFirst => Strides { token: head_dim, head: tokens * head_dim },
        }
    }
}

/// Distances within an operand of [`FlashAttention`], in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Strides {
    /// From a token to the next.
    pub(crate) token: usize,
    /// From a head to the next.
    pub(crate) head: usize,
}

/// Which keys a query of [`FlashAttention`] sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// Those at its own position and before.
    Causal,
    /// All.
    Full,
    /// Of those at its own position and before, the last so many, its own among them: what the
    /// `sliding_window` of a Hugging Face configuration means. A multiple of 64.
    SlidingWindow(usize),
}

impl Mask {
    /// The keys that the query at position `query` sees, of `tokens`.
    pub(crate) fn keys(self, query: usize, tokens: usize) -> Range<usize> {
        match self {
            Self::Full => 0..tokens,
            Self::Causal => 0..query + 1,
            Self::SlidingWindow(window) => (query + 1).saturating_sub(window)..query + 1,
        }
    }
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

impl FlashAttention {
    fn shape_key(&self) -> String {
        let Self { tokens, heads, kv_heads, head_dim, mask, layout } = *self;
        let mask = match mask {
            Mask::Causal => "causal".to_owned(),
            Mask::Full => "full".to_owned(),
            Mask::SlidingWindow(window) => format!("causal_w{window}"),
        };
        let layout = match layout {
            AttentionLayout::SeqFirst => "",
            AttentionLayout::HeadsFirst => "_hf",
        };
        format!("s{tokens}_d{head_dim}_q{heads}_kv{kv_heads}_{mask}{layout}")
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

    #[test]
    fn a_window_holds_the_querys_own_key_and_those_just_before_it() {
        // transformers' `sliding_window_overlay` at v4.56: key > query - window, and key <= query.
        assert_eq!(Mask::SlidingWindow(64).keys(0, 256), 0..1);
        assert_eq!(Mask::SlidingWindow(64).keys(63, 256), 0..64);
        assert_eq!(Mask::SlidingWindow(64).keys(64, 256), 1..65);
        assert_eq!(Mask::Causal.keys(64, 256), 0..65);
        assert_eq!(Mask::Full.keys(64, 256), 0..256);
    }
}

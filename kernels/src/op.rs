//! The kernels of the registry as values: what a launch computes, on which shapes.
//!
//! Parameters, layouts and legality follow the kernel registry of Xilinx/mlir-air (commit
//! e972f294).

mod check;
mod kernel;
mod operand;

use serde::{Deserialize, Serialize};

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

/// How a GEMM's f32 accumulator becomes its output. The names are the registry's methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GemmOutput {
    /// C is f32: no narrowing at all.
    F32,
    /// C is bf16, narrowed once, in the core that accumulated it.
    Drain,
    /// C is bf16, narrowed once, by a separate cast launch on its own core.
    FusedCast,
    /// C is bf16 and is the accumulator too: re-rounded after every [`Gemm::TILE_K_L1`] of K.
    Direct,
}

impl Gemm {
    /// K extent of an L1 tile: [`GemmOutput::Direct`] rounds C to bf16 after each.
    pub const TILE_K_L1: usize = 32;

    /// The registry's accuracy tier of this product.
    pub fn tier(&self) -> &'static str {
        match self.output {
            GemmOutput::F32 | GemmOutput::Drain | GemmOutput::FusedCast => "high",
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
/// rotated with element `i + head_dim / 2`.
///
/// The table is `lut[tokens, head_dim]`, a row being the cosines of the `head_dim / 2` angles and
/// then their sines; one row serves all heads of its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Rope {
    /// Tokens: rows of x and of the table.
    pub tokens: usize,
    /// Heads of each token.
    pub heads: usize,
    /// Elements of a head.
    pub head_dim: usize,
}

/// `o = softmax(q k^T / sqrt(head_dim)) v` for each head, keys and values shared by groups of
/// `heads / kv_heads` query heads. Token-major: `q[tokens, heads * head_dim]`,
/// `k, v[tokens, kv_heads * head_dim]`, `o` like `q`.
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
}

/// Which keys a query of [`FlashAttention`] sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mask {
    /// Those at its own position and before.
    Causal,
    /// All.
    Full,
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
        }
    }

    /// The kernel's name, as in test names: `gemm`, `rms_norm`, ...
    pub fn kernel(&self) -> &'static str {
        self.kind().name()
    }

    /// The shape as in test names: `256x576x1536` (M, K, N), `16384x576` (M, K),
    /// `t256_h9_d64`, `s256_d64_q9_kv3_causal`.
    pub fn shape_key(&self) -> String {
        match *self {
            Self::Gemm(Gemm { m, k, n, .. }) => format!("{m}x{k}x{n}"),
            Self::Gemv(Gemv { m, k }) => format!("{m}x{k}"),
            Self::RmsNorm(RmsNorm { rows, cols, .. })
            | Self::SiluMul(SiluMul { rows, cols })
            | Self::Add(Add { rows, cols }) => format!("{rows}x{cols}"),
            Self::Rope(Rope { tokens, heads, head_dim }) => {
                format!("t{tokens}_h{heads}_d{head_dim}")
            }
            Self::FlashAttention(FlashAttention { tokens, heads, kv_heads, head_dim, mask }) => {
                let mask = match mask {
                    Mask::Causal => "causal",
                    Mask::Full => "full",
                };
                format!("s{tokens}_d{head_dim}_q{heads}_kv{kv_heads}_{mask}")
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_keys_are_those_of_the_test_names() {
        let gemm = Op::Gemm(Gemm { m: 2048, k: 1536, n: 576, output: GemmOutput::Direct });
        assert_eq!((gemm.shape_key().as_str(), gemm.tier()), ("2048x1536x576", Some("low")));
        let rope = Op::Rope(Rope { tokens: 256, heads: 9, head_dim: 64 });
        assert_eq!((rope.shape_key().as_str(), rope.tier()), ("t256_h9_d64", None));
        let attention = Op::FlashAttention(FlashAttention {
            tokens: 256,
            heads: 9,
            kv_heads: 3,
            head_dim: 64,
            mask: Mask::Causal,
        });
        assert_eq!(attention.shape_key(), "s256_d64_q9_kv3_causal");
        assert_eq!(attention.kernel(), "flash_attention");
    }
}

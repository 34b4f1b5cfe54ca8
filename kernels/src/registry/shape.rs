//! The dimensions of a row, typed by kernel.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    Add, AttentionLayout, FlashAttention, Gelu, Gemm, GemmOutput, Gemv, Kernel, LayerNorm, Mask,
    Op, RmsNorm, Rope, SiluMul, Softmax,
};

/// Added to the mean of squares or the variance in every published norm.
const EPS: f32 = 1e-5;

/// A kernel and its dimensions: what a configuration is asked for. A GEMM's method is not part of
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Shape {
    /// Matrix product.
    Gemm(GemmShape),
    /// Matrix-vector product.
    Gemv(GemvShape),
    /// Root-mean-square normalisation.
    RmsNorm(RowsShape),
    /// Normalisation to mean 0 and variance 1.
    LayerNorm(RowsShape),
    /// Attention with an online softmax, in either layout: the values are the same.
    FlashAttention(AttentionShape),
    /// Element-wise sum.
    Add(FlatShape),
    /// `silu(gate) * up`.
    SiluMul(FlatShape),
    /// Rotary position embedding.
    Rope(RopeShape),
    /// GELU in its tanh form.
    Gelu(FlatShape),
    /// Softmax of rows.
    Softmax(RowsShape),
}

/// `C[m, n] = A[m, k] B[k, n]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemmShape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
}

/// `y[m] = A[m, k] x[k]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemvShape {
    /// Rows of A.
    pub m: usize,
    /// Columns of A.
    pub k: usize,
}

/// Rows, each worked on by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RowsShape {
    /// Rows.
    pub rows: usize,
    /// Elements of a row.
    pub cols: usize,
}

/// So many elements, each worked on by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FlatShape {
    /// Elements.
    pub n: usize,
}

/// Heads of all tokens, one a row, each with a row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RopeShape {
    /// Rows: tokens times heads.
    pub rows: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// How many of them are rotated, where that is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotary_dim: Option<usize>,
}

/// Self-attention over `tokens` queries and as many keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttentionShape {
    /// Queries and keys.
    pub tokens: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Which keys a query sees.
    #[cfg_attr(test, schemars(with = "super::schema::MaskSchema"))]
    pub mask: Mask,
}

impl Shape {
    /// The shape of `op`, as the registry counts it: a `RoPE` of t tokens with h heads is t * h
    /// rows, element-wise kernels are flat, attention has no layout and a norm no epsilon.
    pub fn of(op: &Op) -> Self {
        match *op {
            Op::Gemm(Gemm { m, k, n, .. }) => Self::Gemm(GemmShape { m, k, n }),
            Op::Gemv(Gemv { m, k }) => Self::Gemv(GemvShape { m, k }),
            Op::RmsNorm(RmsNorm { rows, cols, .. }) => Self::RmsNorm(RowsShape { rows, cols }),
            Op::LayerNorm(LayerNorm { rows, cols, .. }) => {
                Self::LayerNorm(RowsShape { rows, cols })
            }
            Op::Softmax(Softmax { rows, cols }) => Self::Softmax(RowsShape { rows, cols }),
            Op::Add(Add { rows, cols }) => Self::Add(FlatShape { n: rows * cols }),
            Op::SiluMul(SiluMul { rows, cols }) => Self::SiluMul(FlatShape { n: rows * cols }),
            Op::Gelu(Gelu { rows, cols }) => Self::Gelu(FlatShape { n: rows * cols }),
            Op::Rope(Rope { tokens, heads, head_dim, rotary_dim }) => Self::Rope(RopeShape {
                rows: tokens * heads,
                head_dim,
                rotary_dim: (rotary_dim != head_dim).then_some(rotary_dim),
            }),
            Op::FlashAttention(FlashAttention {
                tokens, heads, kv_heads, head_dim, mask, ..
            }) => Self::FlashAttention(AttentionShape { tokens, head_dim, heads, kv_heads, mask }),
        }
    }

    /// The op of this shape as the registry measures it: element-wise kernels on one row, `RoPE`
    /// with one head a token, attention heads first, norms with an epsilon of 1e-5. None for a GEMM
    /// without a method, or a method without a GEMM.
    pub(super) fn op(&self, method: Option<GemmOutput>) -> Option<Op> {
        let op = match (*self, method) {
            (Self::Gemm(GemmShape { m, k, n }), Some(output)) => Op::Gemm(Gemm { m, k, n, output }),
            (Self::Gemm(_), None) | (_, Some(_)) => return None,
            (Self::Gemv(GemvShape { m, k }), _) => Op::Gemv(Gemv { m, k }),
            (Self::RmsNorm(RowsShape { rows, cols }), _) => {
                Op::RmsNorm(RmsNorm { rows, cols, eps: EPS })
            }
            (Self::LayerNorm(RowsShape { rows, cols }), _) => {
                Op::LayerNorm(LayerNorm { rows, cols, eps: EPS })
            }
            (Self::Softmax(RowsShape { rows, cols }), _) => Op::Softmax(Softmax { rows, cols }),
            (Self::Add(FlatShape { n }), _) => Op::Add(Add { rows: 1, cols: n }),
            (Self::SiluMul(FlatShape { n }), _) => Op::SiluMul(SiluMul { rows: 1, cols: n }),
            (Self::Gelu(FlatShape { n }), _) => Op::Gelu(Gelu { rows: 1, cols: n }),
            (Self::Rope(RopeShape { rows, head_dim, rotary_dim }), _) => Op::Rope(Rope {
                tokens: rows,
                heads: 1,
                head_dim,
                rotary_dim: rotary_dim.unwrap_or(head_dim),
            }),
            (Self::FlashAttention(shape), _) => {
                let AttentionShape { tokens, head_dim, heads, kv_heads, mask } = shape;
                let layout = AttentionLayout::HeadsFirst;
                Op::FlashAttention(FlashAttention {
                    tokens,
                    heads,
                    kv_heads,
                    head_dim,
                    mask,
                    layout,
                })
            }
        };
        Some(op)
    }

    /// Which kernel this is a shape of.
    pub const fn kernel(&self) -> Kernel {
        match self {
            Self::Gemm(_) => Kernel::Gemm,
            Self::Gemv(_) => Kernel::Gemv,
            Self::RmsNorm(_) => Kernel::RmsNorm,
            Self::LayerNorm(_) => Kernel::LayerNorm,
            Self::FlashAttention(_) => Kernel::FlashAttention,
            Self::Add(_) => Kernel::Add,
            Self::SiluMul(_) => Kernel::SiluMul,
            Self::Rope(_) => Kernel::Rope,
            Self::Gelu(_) => Kernel::Gelu,
            Self::Softmax(_) => Kernel::Softmax,
        }
    }

    /// The dimensions, in the order of the name; a mask without a window has one of all tokens.
    pub(super) fn dimensions(&self) -> Vec<usize> {
        match *self {
            Self::Gemm(GemmShape { m, k, n }) => vec![m, k, n],
            Self::Gemv(GemvShape { m, k }) => vec![m, k],
            Self::RmsNorm(RowsShape { rows, cols })
            | Self::LayerNorm(RowsShape { rows, cols })
            | Self::Softmax(RowsShape { rows, cols }) => vec![rows, cols],
            Self::Add(FlatShape { n })
            | Self::SiluMul(FlatShape { n })
            | Self::Gelu(FlatShape { n }) => vec![n],
            Self::Rope(RopeShape { rows, head_dim, rotary_dim }) => {
                vec![rows, head_dim, rotary_dim.unwrap_or(head_dim)]
            }
            Self::FlashAttention(AttentionShape { tokens, head_dim, heads, kv_heads, mask }) => {
                let window = match mask {
                    Mask::Full | Mask::Causal => tokens,
                    Mask::SlidingWindow(window) => window,
                };
                vec![tokens, head_dim, heads, kv_heads, window]
            }
        }
    }

    /// Where masks differ in kind, which no dimension tells: 0 full, 1 causal, 2 a window.
    pub(super) const fn mask_kind(&self) -> usize {
        match self {
            Self::FlashAttention(AttentionShape { mask: Mask::Causal, .. }) => 1,
            Self::FlashAttention(AttentionShape { mask: Mask::SlidingWindow(_), .. }) => 2,
            _ => 0,
        }
    }

    /// How far apart two shapes of one kernel are: the sum over the dimensions of
    /// `|log2(a / b)|`, so that 1 is a doubling of one of them, and 1 more if their masks differ in
    /// kind. None for shapes of different kernels.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        if self.kernel() != other.kernel() {
            return None;
        }
        let ratio = |(a, b): (usize, usize)| (a.max(1) as f64 / b.max(1) as f64).log2().abs();
        let dimensions = self.dimensions().into_iter().zip(other.dimensions());
        let kinds = usize::from(self.mask_kind() != other.mask_kind());
        Some(dimensions.map(ratio).sum::<f64>() + kinds as f64)
    }
}

/// As in names: `gemm::2048x2048x512`, `flash_attention::s2048_d64_q14_kv2_causal`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::", self.kernel().name())?;
        match *self {
            Self::Gemm(GemmShape { m, k, n }) => write!(f, "{m}x{k}x{n}"),
            Self::Gemv(GemvShape { m, k }) => write!(f, "{m}x{k}"),
            Self::RmsNorm(RowsShape { rows, cols })
            | Self::LayerNorm(RowsShape { rows, cols })
            | Self::Softmax(RowsShape { rows, cols }) => write!(f, "{rows}x{cols}"),
            Self::Add(FlatShape { n })
            | Self::SiluMul(FlatShape { n })
            | Self::Gelu(FlatShape { n }) => write!(f, "{n}"),
            Self::Rope(RopeShape { rows, head_dim, rotary_dim }) => {
                write!(f, "{rows}_d{head_dim}")?;
                rotary_dim.map_or(Ok(()), |rotary_dim| write!(f, "_r{rotary_dim}"))
            }
            Self::FlashAttention(AttentionShape { tokens, head_dim, heads, kv_heads, mask }) => {
                write!(f, "s{tokens}_d{head_dim}_q{heads}_kv{kv_heads}_")?;
                match mask {
                    Mask::Causal => f.write_str("causal"),
                    Mask::Full => f.write_str("full"),
                    Mask::SlidingWindow(window) => write!(f, "causal_w{window}"),
                }
            }
        }
    }
}

/// Text that is no shape.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no shape; write the kernel and its dimensions as the registry's names do, such as \
     gemm::2048x2048x512, gemv::2048x8192, rms_norm::2048x2048, add::4194304, rope::65536_d64 or \
     flash_attention::s2048_d64_q14_kv2_causal"
)]
pub struct UnknownShape(pub String);

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        parse(s).ok_or_else(|| UnknownShape(s.to_owned()))
    }
}

fn parse(s: &str) -> Option<Shape> {
    let (kernel, key) = s.split_once("::")?;
    let rows = || {
        let (rows, cols) = key.split_once('x')?;
        Some(RowsShape { rows: number(rows, "")?, cols: number(cols, "")? })
    };
    let flat = || Some(FlatShape { n: number(key, "")? });
    match kernel.parse().ok()? {
        Kernel::Gemm => {
            let (m, rest) = key.split_once('x')?;
            let (k, n) = rest.split_once('x')?;
            let (m, k, n) = (number(m, "")?, number(k, "")?, number(n, "")?);
            Some(Shape::Gemm(GemmShape { m, k, n }))
        }
        Kernel::Gemv => {
            rows().map(|RowsShape { rows: m, cols: k }| Shape::Gemv(GemvShape { m, k }))
        }
        Kernel::RmsNorm => rows().map(Shape::RmsNorm),
        Kernel::LayerNorm => rows().map(Shape::LayerNorm),
        Kernel::Softmax => rows().map(Shape::Softmax),
        Kernel::Add => flat().map(Shape::Add),
        Kernel::SiluMul => flat().map(Shape::SiluMul),
        Kernel::Gelu => flat().map(Shape::Gelu),
        Kernel::Rope => {
            let mut parts = key.split('_');
            let (rows, head_dim) = (number(parts.next()?, "")?, number(parts.next()?, "d")?);
            let rotary_dim = match parts.next() {
                Some(part) => Some(number(part, "r")?),
                None => None,
            };
            let shape = Shape::Rope(RopeShape { rows, head_dim, rotary_dim });
            parts.next().is_none().then_some(shape)
        }
        Kernel::FlashAttention => {
            let mut parts = key.split('_');
            let mut next = |prefix| number(parts.next()?, prefix);
            let (tokens, head_dim) = (next("s")?, next("d")?);
            let (heads, kv_heads) = (next("q")?, next("kv")?);
            let mask = match (parts.next()?, parts.next()) {
                ("full", None) => Mask::Full,
                ("causal", None) => Mask::Causal,
                ("causal", Some(window)) => Mask::SlidingWindow(number(window, "w")?),
                _ => return None,
            };
            let shape = AttentionShape { tokens, head_dim, heads, kv_heads, mask };
            parts.next().is_none().then_some(Shape::FlashAttention(shape))
        }
    }
}

fn number(s: &str, prefix: &str) -> Option<usize> {
    let digits = s.strip_prefix(prefix)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 13] = [
        "gemm::2048x2048x512",
        "gemv::2048x8192",
        "rms_norm::2048x2048",
        "layer_norm::1024x768",
        "softmax::256x512",
        "rope::65536_d64",
        "rope::512_d128_r96",
        "silu_mul::4194304",
        "gelu::1048576",
        "add::245760",
        "flash_attention::s2048_d64_q14_kv2_causal",
        "flash_attention::s512_d128_q28_kv4_full",
        "flash_attention::s512_d64_q9_kv3_causal_w128",
    ];

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in NAMES {
            let shape: Shape = name.parse().unwrap();
            assert_eq!(shape.to_string(), name);
        }
    }

    #[test]
    fn half_a_name_is_no_shape() {
        for name in ["gemm", "gemm::", "gemm::2x3", "gem::2x3x4", "add::+1", "rope::8_d64_r32_x"] {
            let error = name.parse::<Shape>().unwrap_err();
            assert!(error.to_string().contains("such as gemm::2048x2048x512"), "{error}");
        }
        assert!("flash_attention::s1_d64_q1_kv1_banded".parse::<Shape>().is_err());
    }

    #[test]
    fn an_op_and_its_shape_go_to_and_fro() {
        for name in NAMES {
            let shape: Shape = name.parse().unwrap();
            let method = (shape.kernel() == Kernel::Gemm).then_some(GemmOutput::Drain);
            assert_eq!(Shape::of(&shape.op(method).unwrap()), shape, "{name}");
        }
    }

    #[test]
    fn a_rope_of_tokens_and_heads_is_so_many_rows() {
        let rope = Op::Rope(Rope { tokens: 2048, heads: 32, head_dim: 64, rotary_dim: 64 });
        assert_eq!(Shape::of(&rope).to_string(), "rope::65536_d64");
        let add = Op::Add(Add { rows: 2048, cols: 2048 });
        assert_eq!(Shape::of(&add).to_string(), "add::4194304");
    }

    #[test]
    fn distance_counts_doublings() {
        let shape = |name: &str| name.parse::<Shape>().unwrap();
        let gemm = shape("gemm::2048x2048x512");
        assert_eq!(gemm.distance(&shape("gemm::1024x4096x512")), Some(2.0));
        assert_eq!(gemm.distance(&shape("gemv::2048x2048")), None);
        let attention = shape("flash_attention::s512_d64_q2_kv2_full");
        let causal = shape("flash_attention::s512_d64_q4_kv2_causal");
        assert_eq!(attention.distance(&causal), Some(2.0));
    }
}

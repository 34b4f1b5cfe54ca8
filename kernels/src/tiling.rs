//! How a kernel is cut into tiles, and which cuts the fabric takes.
//!
//! The rules are those of the kernel registry of Xilinx/mlir-air (commit e972f294), in the form
//! that all of its measured rows satisfy and all of its known-corrupt configurations break. Each is
//! a [`Rule`] with a name and an explanation.
//!
//! The fabric of an NPU2 is 8 columns of 4 compute tiles. A compute tile has 64 KB of memory (L1),
//! a memory tile, of which each column has one, 512 KB (L2).

mod check;
mod corrupt;
mod flash_attention;
mod gemm;
mod gemv;
mod parallel;
mod propose;
mod rule;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use rule::{Illegal, Rule};

/// How a kernel is cut into tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tiling {
    /// Of a matrix product.
    Gemm(GemmTiling),
    /// Of a matrix-vector product.
    Gemv(GemvTiling),
    /// Of a norm or a softmax.
    Norm(NormTiling),
    /// Of a rotary position embedding.
    Rope(RopeTiling),
    /// Of an element-wise kernel.
    Elementwise(ElementwiseTiling),
    /// Of attention.
    FlashAttention(FlashAttentionTiling),
}

/// How a GEMM is cut: each compute tile of the herd holds `tile_m x tile_n` of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemmTiling {
    /// Rows of C on a compute tile.
    pub tile_m: usize,
    /// Extent along K that is brought to L2 at a time.
    pub tile_k_l2: usize,
    /// Extent along K that is brought to L1 at a time.
    pub tile_k_l1: usize,
    /// Columns of C on a compute tile.
    pub tile_n: usize,
    /// Compute tiles along M and along N.
    pub herd: [usize; 2],
}

/// How a GEMV is cut: a one-dimensional herd over the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemvTiling {
    /// Compute tiles along M.
    pub herd_m: usize,
    /// Rows on a compute tile in each iteration of the launch.
    pub tile_m: usize,
    /// Rows that one call of the kernel takes.
    pub m_input: usize,
}

/// How the rows of a norm or a softmax are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NormTiling {
    /// Compute tiles, each with an equal share of the rows.
    pub herd_x: usize,
}

/// How the rows of a `RoPE` are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RopeTiling {
    /// Compute tiles along both axes, each with an equal share of the rows.
    pub herd: [usize; 2],
}

/// How an element-wise kernel is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ElementwiseTiling {
    /// Elements on a compute tile in each iteration.
    pub tile_n: usize,
    /// Compute tiles along both axes.
    pub herd: [usize; 2],
}

/// How attention is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FlashAttentionTiling {
    /// Queries of a head that a launch works on.
    pub lqp: usize,
    /// Keys that are worked on at a time.
    pub lkp: usize,
    /// Compute tiles that the queries are split over.
    pub q_tiles: usize,
    /// Heads that are worked on side by side.
    pub heads_per_unroll: usize,
    /// Compute tiles in a cascade, each with an equal share of the keys.
    pub stages: usize,
    /// Pieces that the value dimension is split into.
    pub dv_chunks: usize,
}

/// As it is printed beside a shape: `32/256/32/128 8x4`.
impl fmt::Display for Tiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::Gemm(GemmTiling { tile_m, tile_k_l2, tile_k_l1, tile_n, herd: [m, n] }) => {
                format!("{tile_m}/{tile_k_l2}/{tile_k_l1}/{tile_n} {m}x{n}")
            }
            Self::Gemv(GemvTiling { herd_m, tile_m, m_input }) => {
                format!("{herd_m}/{tile_m}/{m_input}")
            }
            Self::Norm(NormTiling { herd_x }) => format!("{herd_x}"),
            Self::Rope(RopeTiling { herd: [x, y] }) => format!("{x}x{y}"),
            Self::Elementwise(ElementwiseTiling { tile_n, herd: [x, y] }) => {
                format!("{tile_n} {x}x{y}")
            }
            Self::FlashAttention(tiling) => {
                let FlashAttentionTiling { lqp, lkp, q_tiles, heads_per_unroll, stages, dv_chunks } =
                    tiling;
                format!("{lqp}/{lkp}/{q_tiles}/{heads_per_unroll}/{stages}/{dv_chunks}")
            }
        };
        f.pad(&text)
    }
}

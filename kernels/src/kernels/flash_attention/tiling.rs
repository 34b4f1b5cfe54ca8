//! How attention is cut into tiles.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FlashAttention, layout::AttentionLayout, mask::Mask};
use crate::tiling::{
    kind::TilingType,
    require::{COLUMNS, at_most, multiple, require},
    rule::{Broken, Rule},
};

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

impl fmt::Display for FlashAttentionTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lqp, lkp, q_tiles, heads_per_unroll, stages, dv_chunks } = self;
        write!(f, "{lqp}/{lkp}/{q_tiles}/{heads_per_unroll}/{stages}/{dv_chunks}")
    }
}

impl TilingType for FlashAttentionTiling {
    const PARTS: &'static str = "lqp/lkp/q_tiles/heads_per_unroll/stages/dv_chunks";

    fn extents(&self) -> Vec<usize> {
        let &Self { lqp, lkp, q_tiles, heads_per_unroll, stages, dv_chunks } = self;
        vec![lqp, lkp, q_tiles, heads_per_unroll, stages, dv_chunks]
    }
}

/// Compute tiles of a column.
const STAGES: usize = 4;

/// Most heads side by side.
const HEADS_PER_UNROLL: usize = 2;

pub(super) fn check(tiling: &FlashAttentionTiling, op: &FlashAttention) -> Result<(), Broken> {
    let &FlashAttentionTiling { lqp, lkp, q_tiles, heads_per_unroll, stages, dv_chunks } = tiling;
    let &FlashAttention { tokens, heads, head_dim, mask, layout, .. } = op;
    let unroll = ("heads_per_unroll", heads_per_unroll);
    at_most(Rule::HeadsPerUnroll, unroll, HEADS_PER_UNROLL)?;
    let columns = ("heads_per_unroll * q_tiles", heads_per_unroll * q_tiles);
    at_most(Rule::HerdFitsFabric, columns, COLUMNS)?;
    require(Rule::FourStages, stages == STAGES, || format!("stages = {stages}"))?;
    multiple(Rule::LqDivisible, ("queries", tokens), ("lqp", lqp))?;
    multiple(Rule::LqDivisible, ("lqp", lqp), ("q_tiles", q_tiles))?;
    multiple(Rule::LkDivisible, ("keys", tokens), ("lkp * stages", lkp * stages))?;
    multiple(Rule::DkDivisible, ("head_dim", head_dim), ("lkp", lkp))?;
    multiple(Rule::DvDivisible, ("head_dim", head_dim), ("dv_chunks", dv_chunks))?;
    multiple(Rule::DvDivisible, ("dv_tile", head_dim / dv_chunks), ("a vector", 8))?;
    multiple(Rule::HeadsDivisible, ("heads", heads), unroll)?;
    let q_tile = lqp / q_tiles;
    require(Rule::QTileIsLkp, q_tile == lkp, || format!("lqp / q_tiles = {q_tile}, lkp = {lkp}"))?;
    if let Mask::SlidingWindow(window) = mask {
        multiple(Rule::WindowDivisible, ("window", window), ("lkp", lkp))?;
    }
    let one_chunk = layout == AttentionLayout::HeadsFirst || dv_chunks == 1;
    require(Rule::SeqFirstOneChunk, one_chunk, || format!("dv_chunks = {dv_chunks}"))
}

/// Keys that are worked on at a time, in every measured row.
const LKP: usize = 64;

/// (lqp, `q_tiles`, `heads_per_unroll`) are (256, 4, 2) and (512, 8, 1), which were measured, and
/// (256, 4, 1), which leaves half the fabric idle.
pub(super) fn tilings(op: &FlashAttention) -> impl Iterator<Item = FlashAttentionTiling> + use<> {
    let dv_chunks = op.head_dim / LKP;
    let cuts = [(256, 4, 2), (512, 8, 1), (256, 4, 1)];
    cuts.into_iter().map(move |(lqp, q_tiles, heads_per_unroll)| {
        let stages = STAGES;
        FlashAttentionTiling { lqp, lkp: LKP, q_tiles, heads_per_unroll, stages, dv_chunks }
    })
}

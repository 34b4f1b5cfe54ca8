//! Rules of attention tilings.

use super::{FlashAttentionTiling, Illegal, Rule, check::Candidate};
use crate::{AttentionLayout, FlashAttention, Mask};

/// Columns of the fabric, and compute tiles of each.
const COLUMNS: usize = 8;
const STAGES: usize = 4;

/// Most heads side by side.
const HEADS_PER_UNROLL: usize = 2;

pub(super) fn check(
    candidate: &Candidate,
    tiling: &FlashAttentionTiling,
    op: &FlashAttention,
) -> Result<(), Illegal> {
    let &FlashAttentionTiling { lqp, lkp, q_tiles, heads_per_unroll, stages, dv_chunks } = tiling;
    let &FlashAttention { tokens, heads, head_dim, mask, layout, .. } = op;
    let unroll = ("heads_per_unroll", heads_per_unroll);
    candidate.at_most(Rule::HeadsPerUnroll, unroll, HEADS_PER_UNROLL)?;
    let columns = ("heads_per_unroll * q_tiles", heads_per_unroll * q_tiles);
    candidate.at_most(Rule::HerdFitsFabric, columns, COLUMNS)?;
    candidate.require(Rule::FourStages, stages == STAGES, || format!("stages = {stages}"))?;
    candidate.multiple(Rule::LqDivisible, ("queries", tokens), ("lqp", lqp))?;
    candidate.multiple(Rule::LqDivisible, ("lqp", lqp), ("q_tiles", q_tiles))?;
    candidate.multiple(Rule::LkDivisible, ("keys", tokens), ("lkp * stages", lkp * stages))?;
    candidate.multiple(Rule::DkDivisible, ("head_dim", head_dim), ("lkp", lkp))?;
    candidate.multiple(Rule::DvDivisible, ("head_dim", head_dim), ("dv_chunks", dv_chunks))?;
    candidate.multiple(Rule::DvDivisible, ("dv_tile", head_dim / dv_chunks), ("a vector", 8))?;
    candidate.multiple(Rule::HeadsDivisible, ("heads", heads), unroll)?;
    let q_tile = lqp / q_tiles;
    candidate.require(Rule::QTileIsLkp, q_tile == lkp, || {
        format!("lqp / q_tiles = {q_tile}, lkp = {lkp}")
    })?;
    if let Mask::SlidingWindow(window) = mask {
        candidate.multiple(Rule::WindowDivisible, ("window", window), ("lkp", lkp))?;
    }
    let one_chunk = layout == AttentionLayout::HeadsFirst || dv_chunks == 1;
    candidate.require(Rule::SeqFirstOneChunk, one_chunk, || format!("dv_chunks = {dv_chunks}"))
}

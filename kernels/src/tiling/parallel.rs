//! Rules of kernels whose rows or elements are worked on independently.

use super::{ElementwiseTiling, Illegal, NormTiling, RopeTiling, Rule, check::Candidate};
use crate::{Access, Op, Rope};

/// Columns of the fabric.
const COLUMNS: usize = 8;

/// Values of a bf16 vector.
const VECTOR: usize = 16;

/// Most tiles of a kernel with three streams to memory, and of one with two.
const TILES: [usize; 2] = [8, 16];

/// Largest tile of a kernel with three streams; smallest and largest of one with two.
const LARGEST_TILE: usize = 4096;
const GELU_TILES: std::ops::RangeInclusive<usize> = 512..=6144;

/// Elements of the one shape whose placements are known, and these.
const PLACED_SILU: usize = 16_777_216;
const PLACED_TILES: [usize; 3] = [256, 512, 4096];
const PLACED_COLUMNS: [usize; 2] = [1, 8];

pub(super) fn check_rows(candidate: &Candidate, tiling: NormTiling) -> Result<(), Illegal> {
    let herd = tiling.herd_x;
    let (rows, cols, row_bytes) = rows(candidate.op);
    candidate.at_most(Rule::HerdFitsFabric, ("herd_x", herd), COLUMNS)?;
    candidate.multiple(Rule::RowsDivisible, ("rows", rows), ("herd_x", herd))?;
    candidate.multiple(Rule::RowVectors, ("cols", cols), ("a vector", VECTOR))?;
    candidate.fits_l1(row_bytes)
}

/// Rows, columns, and the bytes of one row of each operand.
fn rows(op: &Op) -> (usize, usize, usize) {
    let operands = op.operands();
    let bytes = operands
        .iter()
        .map(|operand| operand.shape.last().copied().unwrap_or_default() * operand.dtype.size());
    let row_bytes = bytes.sum();
    let written = operands.iter().find(|operand| operand.access == Access::Write);
    match written.map(|operand| operand.shape.as_slice()) {
        Some(&[rows, cols]) => (rows, cols, row_bytes),
        _ => (0, 0, row_bytes),
    }
}

pub(super) fn check_rope(
    candidate: &Candidate,
    tiling: &RopeTiling,
    op: &Rope,
) -> Result<(), Illegal> {
    let tiles = tiling.herd[0] * tiling.herd[1];
    candidate.at_most(Rule::DmaChannels, ("herd_x * herd_y", tiles), TILES[0])?;
    let rows = op.tokens * op.heads;
    candidate.multiple(Rule::RowsDivisible, ("rows", rows), ("herd_x * herd_y", tiles))?;
    candidate.multiple(Rule::RowVectors, ("head_dim", op.head_dim), ("a vector", VECTOR))?;
    candidate.multiple(Rule::RowVectors, ("rotary_dim", op.rotary_dim), ("a vector", VECTOR))
}

pub(super) fn check_elementwise(
    candidate: &Candidate,
    tiling: &ElementwiseTiling,
) -> Result<(), Illegal> {
    let &ElementwiseTiling { tile_n, herd: [x, y] } = tiling;
    let operands = candidate.op.operands();
    let streams = operands.len();
    let n: usize = operands.first().map_or(0, |operand| operand.shape.iter().product());
    let most = if streams < 3 { TILES[1] } else { TILES[0] };
    candidate.at_most(Rule::DmaChannels, ("herd_x * herd_y", x * y), most)?;
    match candidate.op {
        Op::Gelu(_) => candidate.require(Rule::TileRange, GELU_TILES.contains(&tile_n), || {
            format!("tile_n = {tile_n} is not within {GELU_TILES:?}")
        })?,
        _ => candidate.at_most(Rule::TileRange, ("tile_n", tile_n), LARGEST_TILE)?,
    }
    candidate.multiple(Rule::TileVectors, ("tile_n", tile_n), ("a vector", VECTOR))?;
    let herd = tile_n * x * y;
    candidate.multiple(Rule::NDivisibleByTiles, ("n", n), ("tile_n * herd_x * herd_y", herd))?;
    candidate.fits_l1(2 * 2 * streams * tile_n)?;
    let placed = PLACED_TILES.contains(&tile_n) && PLACED_COLUMNS.contains(&x);
    let known = matches!(candidate.op, Op::SiluMul(_)) && n == PLACED_SILU;
    candidate.require(Rule::Placement, !known || placed, || {
        format!("tile_n = {tile_n} with herd_x = {x}")
    })
}

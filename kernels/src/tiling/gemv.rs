//! Rules of GEMV tilings.

use super::{GemvTiling, Illegal, Rule, check::Candidate};
use crate::Gemv;

/// Columns of the fabric.
const COLUMNS: usize = 8;

/// Bytes of a memory tile.
const L2_BYTES: usize = 524_288;

/// Repeats of one buffer descriptor.
const REPEATS: usize = 256;

/// Most iterations that were measured.
const MOST_ITERATIONS: usize = 3 * REPEATS;

pub(super) fn check(candidate: &Candidate, tiling: &GemvTiling, op: &Gemv) -> Result<(), Illegal> {
    let &GemvTiling { herd_m, tile_m, m_input } = tiling;
    let &Gemv { m, k } = op;
    candidate.at_most(Rule::HerdFitsFabric, ("herd_m", herd_m), COLUMNS)?;
    candidate.multiple(Rule::GemvRowsDivisible, ("m", m), ("tile_m * herd_m", tile_m * herd_m))?;
    candidate.multiple(Rule::GemvInputDivisible, ("tile_m", tile_m), ("m_input", m_input))?;
    candidate.multiple(Rule::GemvKLanes, ("k", k), ("the lanes", 64))?;
    candidate.multiple(Rule::GemvTileEven, ("tile_m", tile_m), ("a word", 2))?;
    let panels = 2 * herd_m * tile_m * (k + 1);
    candidate.at_most(Rule::L2Capacity, ("bytes of panels in L2", panels), L2_BYTES)?;
    candidate.fits_l1(2 * (m_input + 1) * k)?;
    let iterations = m / (tile_m * herd_m);
    let descriptors = iterations <= MOST_ITERATIONS && iterations.is_multiple_of(REPEATS);
    candidate.require(Rule::GemvRepeatLimit, iterations <= REPEATS || descriptors, || {
        format!("m / (tile_m * herd_m) = {iterations}; partition m")
    })
}

//! How a GEMV is cut into tiles.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Gemv;
use crate::{
    datapath::vector::LANES,
    tiling::{
        kind::TilingType,
        require::{COLUMNS, at_most, fits_l1, multiple, require},
        rule::{Broken, Rule},
    },
};

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

impl fmt::Display for GemvTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.herd_m, self.tile_m, self.m_input)
    }
}

impl TilingType for GemvTiling {
    const PARTS: &'static str = "herd_m/tile_m/m_input";

    fn extents(&self) -> Vec<usize> {
        vec![self.herd_m, self.tile_m, self.m_input]
    }
}

/// Bytes of a memory tile.
const L2_BYTES: usize = 524_288;

/// Repeats of one buffer descriptor.
const REPEATS: usize = 256;

/// Most iterations that were measured.
const MOST_ITERATIONS: usize = 3 * REPEATS;

pub(super) fn check(tiling: &GemvTiling, op: &Gemv) -> Result<(), Broken> {
    let &GemvTiling { herd_m, tile_m, m_input } = tiling;
    let &Gemv { m, k } = op;
    at_most(Rule::HerdFitsFabric, ("herd_m", herd_m), COLUMNS)?;
    multiple(Rule::GemvRowsDivisible, ("m", m), ("tile_m * herd_m", tile_m * herd_m))?;
    multiple(Rule::GemvInputDivisible, ("tile_m", tile_m), ("m_input", m_input))?;
    multiple(Rule::GemvKLanes, ("k", k), ("the lanes", LANES))?;
    multiple(Rule::GemvTileEven, ("tile_m", tile_m), ("a word", 2))?;
    let panels = 2 * herd_m * tile_m * (k + 1);
    at_most(Rule::L2Capacity, ("bytes of panels in L2", panels), L2_BYTES)?;
    fits_l1(2 * (m_input + 1) * k)?;
    let iterations = m / (tile_m * herd_m);
    let descriptors = iterations <= MOST_ITERATIONS && iterations.is_multiple_of(REPEATS);
    require(Rule::GemvRepeatLimit, iterations <= REPEATS || descriptors, || {
        format!("m / (tile_m * herd_m) = {iterations}; partition m")
    })
}

/// Proposals of `tile_m` are tried in this order.
const TILE_M: [usize; 4] = [16, 8, 4, 2];

/// The most compute tiles first, then the largest `tile_m` and `m_input`.
pub(super) fn tilings(op: &Gemv) -> impl Iterator<Item = GemvTiling> + use<> {
    let m = op.m;
    (1..=COLUMNS).rev().flat_map(move |herd_m| {
        TILE_M.into_iter().filter(move |tile| m.is_multiple_of(tile * herd_m)).flat_map(
            move |tile_m| {
                (1..=tile_m)
                    .rev()
                    .filter(move |&m_input| tile_m.is_multiple_of(m_input))
                    .map(move |m_input| GemvTiling { herd_m, tile_m, m_input })
            },
        )
    })
}

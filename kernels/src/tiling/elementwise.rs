//! Tilings of kernels whose elements are worked on independently.

use std::{fmt, ops::RangeInclusive};

use serde::{Deserialize, Serialize};

use super::{
    kind::TilingType,
    require::{COLUMNS, VECTOR, at_most, fits_l1, multiple, require},
    rule::{Broken, Rule},
};

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

impl fmt::Display for ElementwiseTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile_n, herd: [x, y] } = self;
        write!(f, "{tile_n} {x}x{y}")
    }
}

impl TilingType for ElementwiseTiling {
    const PARTS: &'static str = "tile_n herd";

    fn extents(&self) -> Vec<usize> {
        vec![self.tile_n, self.herd[0], self.herd[1]]
    }
}

/// What a tile moves to and from memory, each with a DMA channel of its own, and the tiles that
/// were seen to work.
pub(crate) struct Streams {
    /// Operands.
    count: usize,
    /// Rows of the fabric that have channels enough.
    rows: usize,
    /// Elements of a tile.
    tile_n: RangeInclusive<usize>,
}

/// Of a kernel with two inputs: channels for one row of tiles.
pub(crate) const TWO_INPUTS: Streams = Streams { count: 3, rows: 1, tile_n: 1..=4096 };

/// Of a kernel with one input: channels for two rows of tiles.
pub(crate) const ONE_INPUT: Streams = Streams { count: 2, rows: 2, tile_n: 512..=6144 };

/// Elements of the largest tile that is proposed.
const LARGEST_PROPOSED: usize = 4096;

/// The most compute tiles first, then the largest tiles.
pub(crate) fn tilings(streams: &Streams, n: usize) -> impl Iterator<Item = ElementwiseTiling> {
    let herds = (1..=streams.rows).rev().flat_map(|y| (1..=COLUMNS).rev().map(move |x| [x, y]));
    herds.flat_map(move |herd| {
        (1..=LARGEST_PROPOSED / VECTOR)
            .rev()
            .map(|vectors| VECTOR * vectors)
            .filter(move |tile_n| n.is_multiple_of(tile_n * herd[0] * herd[1]))
            .map(move |tile_n| ElementwiseTiling { tile_n, herd })
    })
}

/// A compute tile holds a tile of each operand twice.
pub(crate) fn check(tiling: &ElementwiseTiling, streams: &Streams, n: usize) -> Result<(), Broken> {
    let &ElementwiseTiling { tile_n, herd: [x, y] } = tiling;
    at_most(Rule::DmaChannels, ("herd_x * herd_y", x * y), COLUMNS * streams.rows)?;
    let sizes = &streams.tile_n;
    require(Rule::TileRange, sizes.contains(&tile_n), || {
        format!("tile_n = {tile_n} is not within {sizes:?}")
    })?;
    multiple(Rule::TileVectors, ("tile_n", tile_n), ("a vector", VECTOR))?;
    let herd = tile_n * x * y;
    multiple(Rule::NDivisibleByTiles, ("n", n), ("tile_n * herd_x * herd_y", herd))?;
    fits_l1(2 * 2 * streams.count * tile_n)
}

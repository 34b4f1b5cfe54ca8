//! How a GEMM is cut into tiles.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Gemm, output::GemmOutput};
use crate::tiling::{
    kind::TilingType,
    require::{at_most, fits_l1, multiple, not_corrupt, require},
    rule::{Broken, Rule},
};

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

impl fmt::Display for GemmTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile_m, tile_k_l2, tile_k_l1, tile_n, herd: [m, n] } = self;
        write!(f, "{tile_m}/{tile_k_l2}/{tile_k_l1}/{tile_n} {m}x{n}")
    }
}

impl TilingType for GemmTiling {
    const PARTS: &'static str = "tile_m/tile_k_l2/tile_k_l1/tile_n herd";

    fn extents(&self) -> Vec<usize> {
        let &Self { tile_m, tile_k_l2, tile_k_l1, tile_n, herd: [m, n] } = self;
        vec![tile_m, tile_k_l2, tile_k_l1, tile_n, m, n]
    }
}

/// Compute tiles of the fabric along M and along N.
const HERD: [usize; 2] = [8, 4];

/// Elements of B from one L2 tile to the next: a stride is 20 bits of 4-byte words.
const LONGEST_STRIDE: usize = 1 << 21;

pub(super) fn check(tiling: &GemmTiling, op: &Gemm) -> Result<(), Broken> {
    let &GemmTiling { tile_m, tile_k_l2, tile_k_l1, tile_n, herd: [herd_m, herd_n] } = tiling;
    let &Gemm { m, k, n, output } = op;
    at_most(Rule::HerdFitsFabric, ("herd_m", herd_m), HERD[0])?;
    at_most(Rule::HerdFitsFabric, ("herd_n", herd_n), HERD[1])?;
    let (rows, columns) = (tile_m * herd_m, tile_n * herd_n);
    multiple(Rule::MDivisible, ("m", m), ("tile_m * herd_m", rows))?;
    multiple(Rule::KDivisible, ("k", k), ("tile_k_l2", tile_k_l2))?;
    multiple(Rule::KL2Divisible, ("tile_k_l2", tile_k_l2), ("tile_k_l1", tile_k_l1))?;
    multiple(Rule::NDivisible, ("n", n), ("tile_n * herd_n", columns))?;
    multiple(Rule::TileKBlocks, ("tile_k_l1", tile_k_l1), ("the block", 8))?;
    let (rule, block) = match output {
        GemmOutput::F32External | GemmOutput::Drain | GemmOutput::FusedCast => (Rule::MmTile, 16),
        GemmOutput::F32Direct | GemmOutput::Direct => (Rule::DirectTile, 8),
    };
    multiple(rule, ("tile_m", tile_m), ("the block", block))?;
    multiple(rule, ("tile_n", tile_n), ("the block", block))?;
    if output == GemmOutput::Direct {
        require(Rule::DirectTileK, tile_k_l1 == Gemm::TILE_K_L1, || {
            format!("tile_k_l1 = {tile_k_l1}")
        })?;
    }
    fits_l1(l1_bytes(tiling, output))?;
    at_most(Rule::DmaStride, ("tile_k_l2 * n", tile_k_l2 * n), LONGEST_STRIDE)?;
    let corrupt = CORRUPT.iter().find(|corrupt| corrupt.is(op, tiling));
    not_corrupt(corrupt.map(|corrupt| corrupt.mean_rel_l1))
}

/// Accumulator, A and B twice, and what drain writes out of.
fn l1_bytes(tiling: &GemmTiling, output: GemmOutput) -> usize {
    let &GemmTiling { tile_m, tile_k_l1, tile_n, .. } = tiling;
    let c = tile_m * tile_n;
    let c_bytes = match output {
        GemmOutput::F32External | GemmOutput::F32Direct | GemmOutput::FusedCast => 4 * c,
        GemmOutput::Drain => 4 * c + 2 * c,
        GemmOutput::Direct => 2 * c,
    };
    c_bytes + 2 * 2 * tile_k_l1 * (tile_m + tile_n)
}

/// In an ELF of several launches, one iteration along M for the hand-written `mm.o`.
pub(super) fn check_fused(tiling: &GemmTiling, op: &Gemm, launches: usize) -> Result<(), Broken> {
    let rows = tiling.tile_m * tiling.herd[0];
    let external = op.output == GemmOutput::F32External;
    require(Rule::ExternalInFusedElf, launches == 1 || !external || op.m == rows, || {
        let m = op.m;
        format!("m = {m} is more than tile_m * herd_m = {rows} in a program of {launches} launches")
    })
}

/// Seen in one model's build, not isolated: no rule refuses it.
pub(super) fn fused_note(tiling: &GemmTiling, op: &Gemm) -> Option<&'static str> {
    match op.output {
        _ if op.n == 896 && tiling.tile_n == 32 => Some(
            "tile_n = 32 at N = 896 had a mean_rel_l1 of 0.2 within the ELF of Qwen2.5-0.5B, and \
             9.4e-3 by itself",
        ),
        GemmOutput::Drain => Some(
            "a drain GEMM is reported to be broken in an ELF that is stitched together from \
             several launches",
        ),
        GemmOutput::F32External
        | GemmOutput::F32Direct
        | GemmOutput::FusedCast
        | GemmOutput::Direct => None,
    }
}

/// A GEMM that builds, runs and gives garbage. `None` stands for any extent.
///
/// From the SmolVLA sweeps of mlir-air's kernel registry (commit e972f294), where a sound GEMM has
/// a `mean_rel_l1` of 9.0e-3 to 9.6e-3. In all of those listed, an L2 tile is an odd number of L1
/// tiles; yet 3 of them, and 1 with an even number of L2 tiles, were measured to be sound, so this
/// is not a rule, and [`tilings`] merely keeps away from odd numbers.
struct CorruptGemm {
    m: Option<usize>,
    k: usize,
    n: Option<usize>,
    tile_k_l2: usize,
    tile_k_l1: Option<usize>,
    /// The published `mean_rel_l1`, or the range that the page gives for several at once.
    mean_rel_l1: &'static str,
}

const fn corrupt(
    [m, k, n]: [usize; 3],
    tile_k_l2: usize,
    tile_k_l1: Option<usize>,
    mean_rel_l1: &'static str,
) -> CorruptGemm {
    CorruptGemm { m: Some(m), k, n: Some(n), tile_k_l2, tile_k_l1, mean_rel_l1 }
}

const CORRUPT: [CorruptGemm; 11] = [
    CorruptGemm { m: None, k: 960, n: None, tile_k_l2: 160, tile_k_l1: None, mean_rel_l1: "0.77" },
    corrupt([256, 320, 320], 160, None, "0.793"),
    corrupt([64, 720, 960], 240, Some(48), "0.78 to 1.02"),
    corrupt([64, 720, 960], 360, Some(40), "0.78 to 1.02"),
    corrupt([64, 720, 960], 720, Some(48), "0.78 to 1.02"),
    corrupt([64, 720, 960], 720, Some(80), "0.78 to 1.02"),
    corrupt([64, 1440, 720], 288, Some(32), "0.7 to 1.0"),
    corrupt([64, 1440, 720], 480, Some(32), "0.7 to 1.0"),
    corrupt([192, 320, 64], 160, None, "0.915"),
    corrupt([192, 320, 64], 64, Some(64), "0.707"),
    corrupt([192, 320, 64], 320, Some(64), "0.799"),
];

impl CorruptGemm {
    fn is(&self, op: &Gemm, tiling: &GemmTiling) -> bool {
        self.m.is_none_or(|m| m == op.m)
            && self.k == op.k
            && self.n.is_none_or(|n| n == op.n)
            && self.tile_k_l2 == tiling.tile_k_l2
            && self.tile_k_l1.is_none_or(|tile| tile == tiling.tile_k_l1)
    }
}

/// Candidates of a proposal are tried in these orders.
const TILE_M: [usize; 4] = [64, 48, 32, 16];
const TILE_N: [usize; 15] = [240, 224, 208, 192, 176, 160, 144, 128, 112, 96, 80, 64, 48, 32, 16];
const TILE_K_L1: [usize; 6] = [32, 48, 64, 24, 16, 8];
const LARGEST_TILE_K_L2: usize = 512;

/// The most compute tiles first; then `tile_m`, `tile_n`, `tile_k_l1` (32 first) and the largest
/// `tile_k_l2` up to 512 that is an even number of `tile_k_l1` (every known-corrupt one is an odd
/// number), or all of K at once.
pub(super) fn tilings(op: &Gemm) -> impl Iterator<Item = GemmTiling> + use<> {
    let &Gemm { m, k, n, output } = op;
    let mut herds: Vec<[usize; 2]> =
        (1..=HERD[0]).flat_map(|m| (1..=HERD[1]).map(move |n| [m, n])).collect();
    herds.sort_by_key(|&[herd_m, herd_n]| std::cmp::Reverse((herd_m * herd_n, herd_m)));
    // The rules that most candidates break are looked at first, so that few are tried.
    let tiles = herds.into_iter().flat_map(move |herd| {
        TILE_M.into_iter().filter(move |tile| m.is_multiple_of(tile * herd[0])).flat_map(
            move |tile_m| {
                TILE_N
                    .into_iter()
                    .filter(move |tile| n.is_multiple_of(tile * herd[1]))
                    .map(move |tile_n| (herd, tile_m, tile_n))
            },
        )
    });
    tiles.flat_map(move |(herd, tile_m, tile_n)| {
        let depths = TILE_K_L1.into_iter().filter(move |&tile| {
            k.is_multiple_of(tile) && (output != GemmOutput::Direct || tile == Gemm::TILE_K_L1)
        });
        depths.flat_map(move |tile_k_l1| {
            let even = (1..=LARGEST_TILE_K_L2 / (2 * tile_k_l1)).rev();
            even.map(move |pairs| 2 * pairs * tile_k_l1)
                .filter(move |tile_k_l2| k.is_multiple_of(*tile_k_l2))
                .chain((k == tile_k_l1).then_some(k))
                .map(move |tile_k_l2| GemmTiling { tile_m, tile_k_l2, tile_k_l1, tile_n, herd })
        })
    })
}

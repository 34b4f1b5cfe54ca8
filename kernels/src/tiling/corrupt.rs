//! Configurations that build, run and give garbage.
//!
//! From the SmolVLA sweeps of mlir-air's kernel registry (commit e972f294), where a sound GEMM has a
//! `mean_rel_l1` of 9.0e-3 to 9.6e-3. In all of those listed, an L2 tile is an odd number of L1
//! tiles; yet 3 of them, and 1 with an even number of L2 tiles, were measured to be sound, so this
//! is no rule, and [`Tiling::propose`] merely keeps away from odd numbers.

use super::{GemmTiling, Illegal, Rule, Tiling, check::Candidate};
use crate::{Gemm, Op};

/// A corrupt GEMM. None stands for any extent.
struct CorruptGemm {
    m: Option<usize>,
    k: usize,
    n: Option<usize>,
    tile_k_l2: usize,
    tile_k_l1: Option<usize>,
    /// The published `mean_rel_l1`, or the range that the page gives for several at once.
    mean_rel_l1: &'static str,
}

const fn gemm(
    [m, k, n]: [usize; 3],
    tile_k_l2: usize,
    tile_k_l1: Option<usize>,
    mean_rel_l1: &'static str,
) -> CorruptGemm {
    CorruptGemm { m: Some(m), k, n: Some(n), tile_k_l2, tile_k_l1, mean_rel_l1 }
}

const GEMMS: [CorruptGemm; 11] = [
    CorruptGemm { m: None, k: 960, n: None, tile_k_l2: 160, tile_k_l1: None, mean_rel_l1: "0.77" },
    gemm([256, 320, 320], 160, None, "0.793"),
    gemm([64, 720, 960], 240, Some(48), "0.78 to 1.02"),
    gemm([64, 720, 960], 360, Some(40), "0.78 to 1.02"),
    gemm([64, 720, 960], 720, Some(48), "0.78 to 1.02"),
    gemm([64, 720, 960], 720, Some(80), "0.78 to 1.02"),
    gemm([64, 1440, 720], 288, Some(32), "0.7 to 1.0"),
    gemm([64, 1440, 720], 480, Some(32), "0.7 to 1.0"),
    gemm([192, 320, 64], 160, None, "0.915"),
    gemm([192, 320, 64], 64, Some(64), "0.707"),
    gemm([192, 320, 64], 320, Some(64), "0.799"),
];

/// An add of so many elements with this tile yields zeros beyond the first tiles.
const ADD: (usize, usize, &str) = (245_760, 2048, "0.46");

impl CorruptGemm {
    fn is(&self, op: &Gemm, tiling: &GemmTiling) -> bool {
        self.m.is_none_or(|m| m == op.m)
            && self.k == op.k
            && self.n.is_none_or(|n| n == op.n)
            && self.tile_k_l2 == tiling.tile_k_l2
            && self.tile_k_l1.is_none_or(|tile| tile == tiling.tile_k_l1)
    }
}

pub(super) fn check(candidate: &Candidate, tiling: &Tiling) -> Result<(), Illegal> {
    let figure = match (candidate.op, tiling) {
        (Op::Gemm(op), Tiling::Gemm(tiling)) => {
            GEMMS.iter().find(|corrupt| corrupt.is(op, tiling)).map(|c| c.mean_rel_l1)
        }
        (Op::Add(op), Tiling::Elementwise(tiling)) => {
            let (n, tile_n, figure) = ADD;
            (op.rows * op.cols == n && tiling.tile_n == tile_n).then_some(figure)
        }
        _ => None,
    };
    candidate.require(Rule::SilentCorruption, figure.is_none(), || {
        let figure = figure.unwrap_or_default();
        format!("it builds and runs, and was measured to have a mean_rel_l1 of {figure}")
    })
}

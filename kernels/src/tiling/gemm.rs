//! Rules of GEMM tilings.

use super::{GemmTiling, Illegal, Rule, check::Candidate};
use crate::{Gemm, GemmOutput};

/// Compute tiles of the fabric along M and along N.
const HERD: [usize; 2] = [8, 4];

/// Elements of B from one L2 tile to the next: a stride is 20 bits of 4-byte words.
const LONGEST_STRIDE: usize = 1 << 21;

pub(super) fn check(candidate: &Candidate, tiling: &GemmTiling, op: &Gemm) -> Result<(), Illegal> {
    let &GemmTiling { tile_m, tile_k_l2, tile_k_l1, tile_n, herd: [herd_m, herd_n] } = tiling;
    let &Gemm { m, k, n, output } = op;
    candidate.at_most(Rule::HerdFitsFabric, ("herd_m", herd_m), HERD[0])?;
    candidate.at_most(Rule::HerdFitsFabric, ("herd_n", herd_n), HERD[1])?;
    let (rows, columns) = (tile_m * herd_m, tile_n * herd_n);
    candidate.multiple(Rule::MDivisible, ("m", m), ("tile_m * herd_m", rows))?;
    candidate.multiple(Rule::KDivisible, ("k", k), ("tile_k_l2", tile_k_l2))?;
    candidate.multiple(Rule::KL2Divisible, ("tile_k_l2", tile_k_l2), ("tile_k_l1", tile_k_l1))?;
    candidate.multiple(Rule::NDivisible, ("n", n), ("tile_n * herd_n", columns))?;
    candidate.multiple(Rule::TileKBlocks, ("tile_k_l1", tile_k_l1), ("the block", 8))?;
    let (rule, block) = match output {
        GemmOutput::F32External | GemmOutput::Drain | GemmOutput::FusedCast => (Rule::MmTile, 16),
        GemmOutput::F32Direct | GemmOutput::Direct => (Rule::DirectTile, 8),
    };
    candidate.multiple(rule, ("tile_m", tile_m), ("the block", block))?;
    candidate.multiple(rule, ("tile_n", tile_n), ("the block", block))?;
    if output == GemmOutput::Direct {
        candidate.require(Rule::DirectTileK, tile_k_l1 == Gemm::TILE_K_L1, || {
            format!("tile_k_l1 = {tile_k_l1}")
        })?;
    }
    candidate.fits_l1(l1_bytes(tiling, output))?;
    candidate.at_most(Rule::DmaStride, ("tile_k_l2 * n", tile_k_l2 * n), LONGEST_STRIDE)
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

//! A tiling for a shape that nobody has measured.

use super::{
    ElementwiseTiling, FlashAttentionTiling, GemmTiling, GemvTiling, NormTiling, RopeTiling, Tiling,
};
use crate::{Gemm, GemmOutput, Gemv, Op, registry::Registry};

/// Candidates are tried in these orders.
const TILE_M: [usize; 4] = [64, 48, 32, 16];
const TILE_N: [usize; 15] = [240, 224, 208, 192, 176, 160, 144, 128, 112, 96, 80, 64, 48, 32, 16];
const TILE_K_L1: [usize; 6] = [32, 48, 64, 24, 16, 8];
const LARGEST_TILE_K_L2: usize = 512;
const GEMV_TILE_M: [usize; 4] = [16, 8, 4, 2];

/// Keys that attention works on at a time, in every measured row.
const LKP: usize = 64;

impl Tiling {
    /// The tiling to build `op` with: that of the row that was measured on silicon, if there is
    /// one, or [`propose`](Self::propose)d.
    pub fn choose(op: &Op) -> Option<Self> {
        let measured = Registry::published().measured(op).ok().and_then(|row| row.tiling);
        // A row does not tell layouts apart.
        measured.filter(|tiling| tiling.check(op).is_ok()).or_else(|| Self::propose(op))
    }

    /// The first legal tiling in a fixed order of preference. A proposal, not a measurement: it
    /// breaks no known rule, and nobody has seen it run.
    ///
    /// The order is that of the best measured rows: the most compute tiles first, then the largest
    /// tiles. For a GEMM that is `tile_m` (64, 48, 32, 16), `tile_n` (240 down to 16), `tile_k_l1` (32 first)
    /// and the largest `tile_k_l2` up to 512 that is an even number of `tile_k_l1` (every
    /// known-corrupt one is an odd number), or all of K at once. For a GEMV it is `tile_m`, then
    /// `m_input`. For attention (lqp, `q_tiles`, `heads_per_unroll`) are (256, 4,
    /// 2), (512, 8, 1), which were measured, and (256, 4, 1), which leaves half the fabric idle.
    ///
    /// None if no tiling of this order is legal: a GEMM of fewer than 16 rows has none.
    pub fn propose(op: &Op) -> Option<Self> {
        let legal = |tiling: &Self| tiling.check(op).is_ok();
        match op {
            Op::Gemm(gemm) => gemm_tilings(gemm).map(Self::Gemm).find(legal),
            Op::Gemv(gemv) => gemv_tilings(gemv).map(Self::Gemv).find(legal),
            Op::RmsNorm(_) | Op::LayerNorm(_) | Op::Softmax(_) => {
                (1..=8).rev().map(|herd_x| Self::Norm(NormTiling { herd_x })).find(legal)
            }
            Op::Rope(_) => {
                (1..=8).rev().map(|x| Self::Rope(RopeTiling { herd: [x, 1] })).find(legal)
            }
            Op::Add(_) | Op::SiluMul(_) | Op::Gelu(_) => {
                elementwise_tilings(op).map(Self::Elementwise).find(legal)
            }
            Op::FlashAttention(attention) => {
                let cuts = [(256, 4, 2), (512, 8, 1), (256, 4, 1)];
                cuts.into_iter()
                    .map(|(lqp, q_tiles, heads_per_unroll)| {
                        Self::FlashAttention(FlashAttentionTiling {
                            lqp,
                            lkp: LKP,
                            q_tiles,
                            heads_per_unroll,
                            stages: 4,
                            dv_chunks: attention.head_dim / LKP,
                        })
                    })
                    .find(legal)
            }
        }
    }
}

fn gemm_tilings(op: &Gemm) -> impl Iterator<Item = GemmTiling> {
    let &Gemm { m, k, n, output } = op;
    let mut herds: Vec<[usize; 2]> =
        (1..=8).flat_map(|herd_m| (1..=4).map(move |herd_n| [herd_m, herd_n])).collect();
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

fn gemv_tilings(op: &Gemv) -> impl Iterator<Item = GemvTiling> {
    let m = op.m;
    (1..=8).rev().flat_map(move |herd_m| {
        GEMV_TILE_M.into_iter().filter(move |tile| m.is_multiple_of(tile * herd_m)).flat_map(
            move |tile_m| {
                (1..=tile_m)
                    .rev()
                    .filter(move |&m_input| tile_m.is_multiple_of(m_input))
                    .map(move |m_input| GemvTiling { herd_m, tile_m, m_input })
            },
        )
    })
}

fn elementwise_tilings(op: &Op) -> impl Iterator<Item = ElementwiseTiling> {
    let n: usize = op.operands().first().map_or(0, |operand| operand.shape.iter().product());
    let rows = if matches!(op, Op::Gelu(_)) { 2 } else { 1 };
    let herds = (1..=rows).rev().flat_map(|y| (1..=8).rev().map(move |x| [x, y]));
    herds.flat_map(move |herd| {
        (1..=256)
            .rev()
            .map(|vectors| 16 * vectors)
            .filter(move |tile_n| n.is_multiple_of(tile_n * herd[0] * herd[1]))
            .map(move |tile_n| ElementwiseTiling { tile_n, herd })
    })
}

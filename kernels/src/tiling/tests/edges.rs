//! Each rule by a tiling that just meets it and one that just breaks it.

use std::collections::HashSet;

use super::*;

/// Two ops or tilings that differ in one number, on either side of the rule.
#[track_caller]
fn edge(rule: Rule, (op, tiling): (Op, Tiling), (bad_op, bad): (Op, Tiling)) -> Rule {
    legal(&op, tiling);
    breaks(rule, &bad_op, bad);
    rule
}

fn gemm_edges() -> Vec<Rule> {
    use GemmOutput::{Direct, Drain, F32Direct, F32External};
    let op = |shape, output| gemm_op(shape, output);
    let square = op([512, 512, 512], Drain);
    let tiling = gemm([32, 256, 32, 128], [8, 4]);
    vec![
        edge(Rule::TilingOfKernel, (square, tiling), (square, norm(8))),
        edge(Rule::TileNotZero, (square, tiling), (square, gemm([32, 256, 0, 128], [8, 4]))),
        edge(Rule::MDivisible, (square, tiling), (op([528, 512, 512], Drain), tiling)),
        edge(Rule::KDivisible, (square, tiling), (op([512, 520, 512], Drain), tiling)),
        edge(
            Rule::KL2Divisible,
            (square, gemm([32, 256, 64, 128], [8, 4])),
            (square, gemm([32, 256, 48, 128], [8, 4])),
        ),
        edge(Rule::NDivisible, (square, tiling), (op([512, 512, 640], Drain), tiling)),
        edge(
            Rule::MmTile,
            (op([64, 64, 64], Drain), gemm([16, 64, 32, 16], [4, 4])),
            (op([64, 64, 64], Drain), gemm([8, 64, 32, 16], [8, 4])),
        ),
        edge(
            Rule::DirectTile,
            (op([64, 64, 64], F32Direct), gemm([8, 64, 32, 16], [8, 4])),
            (op([64, 64, 64], F32Direct), gemm([16, 64, 32, 4], [4, 4])),
        ),
        edge(
            Rule::TileKBlocks,
            (op([64, 64, 64], Drain), gemm([16, 64, 8, 16], [4, 4])),
            (op([64, 64, 64], Drain), gemm([16, 64, 4, 16], [4, 4])),
        ),
        edge(
            Rule::DirectTileK,
            (op([512, 512, 512], Direct), tiling),
            (op([512, 512, 512], Direct), gemm([32, 256, 64, 128], [8, 4])),
        ),
        edge(
            Rule::HerdFitsFabric,
            (op([512, 512, 640], Drain), gemm([32, 256, 32, 160], [8, 4])),
            (op([512, 512, 640], Drain), gemm([32, 256, 32, 128], [8, 5])),
        ),
        // The source's own example: drain stops at tile_m = 32 with tile_n = 128, for its bf16
        // buffer; without it, 64 fits.
        edge(
            Rule::L1Capacity,
            (op([512, 512, 512], F32External), gemm([64, 256, 32, 128], [8, 4])),
            (square, gemm([64, 256, 32, 128], [8, 4])),
        ),
        // 512 * 4096 = 2^21.
        edge(
            Rule::DmaStride,
            (op([512, 512, 4096], Drain), gemm([32, 512, 32, 128], [8, 4])),
            (op([512, 512, 4608], Drain), gemm([32, 512, 32, 128], [8, 4])),
        ),
        edge(
            Rule::SilentCorruption,
            (op([256, 960, 320], Drain), gemm([32, 320, 32, 80], [8, 4])),
            (op([256, 960, 320], Drain), gemm([32, 160, 32, 80], [8, 4])),
        ),
    ]
}

fn gemv_edges() -> Vec<Rule> {
    let (square, tiling) = (gemv_op(2048, 2048), gemv(8, 8, 8));
    // 16 + 1 rows of 1920 are 65,280 bytes; 16 + 1 of 1984 are 67,456.
    legal(&gemv_op(256, 1920), gemv(8, 16, 16));
    breaks(Rule::L1Capacity, &gemv_op(256, 1984), gemv(8, 16, 16));
    vec![
        edge(Rule::GemvRowsDivisible, (square, tiling), (gemv_op(2056, 2048), tiling)),
        edge(Rule::GemvInputDivisible, (square, gemv(8, 8, 4)), (square, gemv(8, 8, 3))),
        edge(Rule::GemvKLanes, (square, tiling), (gemv_op(2048, 2080), tiling)),
        edge(Rule::GemvTileEven, (gemv_op(16, 64), gemv(8, 2, 1)), (square, gemv(8, 1, 1))),
        // 8 * 8 * (4032 + 1) * 2 = 516,224 bytes; with K = 4096, 524,416.
        edge(
            Rule::L2Capacity,
            (gemv_op(2048, 4032), gemv(8, 8, 4)),
            (gemv_op(2048, 4096), gemv(8, 8, 4)),
        ),
        edge(
            Rule::GemvRepeatLimit,
            (gemv_op(256 * 64, 1024), tiling),
            (gemv_op(257 * 64, 1024), tiling),
        ),
    ]
}

fn parallel_edges() -> Vec<Rule> {
    // x, w and y of 10,912 columns are 65,472 bytes; of 10,928, 65,568.
    legal(&rms_norm(8, 10_912), norm(8));
    breaks(Rule::L1Capacity, &rms_norm(8, 10_928), norm(8));
    // x, y, weight and bias of 8192 columns are all of L1.
    legal(&Op::LayerNorm(LayerNorm { rows: 8, cols: 8192, eps: 1e-5 }), norm(8));
    let op = Op::LayerNorm(LayerNorm { rows: 8, cols: 8208, eps: 1e-5 });
    breaks(Rule::L1Capacity, &op, norm(8));
    legal(&rms_norm(16, 64), norm(8));
    breaks(Rule::HerdFitsFabric, &rms_norm(16, 64), norm(16));
    breaks(Rule::DmaChannels, &rope_op(3, 64), rope([3, 3]));
    breaks(Rule::RowsDivisible, &rope_op(3, 64), rope([2, 1]));
    legal(&rope_op(3, 48), rope([3, 1]));
    breaks(Rule::RowVectors, &rope_op(3, 40), rope([3, 1]));
    legal(&gelu(16 * 512), flat(512, [4, 4]));
    breaks(Rule::DmaChannels, &gelu(18 * 512), flat(512, [6, 3]));
    breaks(Rule::TileRange, &gelu(16 * 496), flat(496, [4, 4]));
    legal(&gelu(6144), flat(6144, [1, 1]));
    breaks(Rule::TileRange, &gelu(6160), flat(6160, [1, 1]));
    legal(&add(245_760), flat(1920, [8, 1]));
    breaks(Rule::SilentCorruption, &add(245_760), flat(2048, [8, 1]));
    let placed = 16_777_216;
    breaks(Rule::Placement, &silu_mul(placed), flat(4096, [4, 1]));
    vec![
        edge(Rule::RowsDivisible, (rms_norm(16, 64), norm(8)), (rms_norm(17, 64), norm(8))),
        edge(Rule::RowVectors, (rms_norm(8, 64), norm(8)), (rms_norm(8, 72), norm(8))),
        edge(
            Rule::NDivisibleByTiles,
            (add(8192), flat(1024, [8, 1])),
            (add(8208), flat(1024, [8, 1])),
        ),
        edge(Rule::TileRange, (add(4096), flat(4096, [1, 1])), (add(4112), flat(4112, [1, 1]))),
        edge(Rule::TileVectors, (add(64), flat(16, [4, 1])), (add(64), flat(8, [8, 1]))),
        edge(Rule::DmaChannels, (add(144), flat(16, [3, 1])), (add(144), flat(16, [9, 1]))),
        edge(
            Rule::Placement,
            (silu_mul(placed), flat(512, [8, 1])),
            (silu_mul(placed), flat(1024, [8, 1])),
        ),
    ]
}

fn attention_edges() -> Vec<Rule> {
    let of = |op, cut| (Op::FlashAttention(op), Tiling::FlashAttention(cut));
    let good = of(ATTENTION, CUT);
    let windowed = |window| FlashAttention { mask: Mask::SlidingWindow(window), ..ATTENTION };
    let seq_first =
        |head_dim| FlashAttention { layout: AttentionLayout::SeqFirst, head_dim, ..ATTENTION };
    // Eight columns for one head, and for two of four.
    let wide = FlashAttentionTiling { lqp: 512, q_tiles: 8, heads_per_unroll: 1, ..CUT };
    legal(&good.0, Tiling::FlashAttention(wide));
    let wider = FlashAttentionTiling { heads_per_unroll: 2, ..wide };
    breaks(Rule::HerdFitsFabric, &good.0, Tiling::FlashAttention(wider));
    vec![
        edge(Rule::LqDivisible, good, of(FlashAttention { tokens: 1024 + 128, ..ATTENTION }, CUT)),
        // 4 stages of 128-key chunks are 512 keys. 512 queries are two launches of 256 and fit; 768
        // do not.
        edge(
            Rule::LkDivisible,
            good,
            of(
                FlashAttention { tokens: 768, ..ATTENTION },
                FlashAttentionTiling { lkp: 128, ..CUT },
            ),
        ),
        edge(
            Rule::DkDivisible,
            good,
            of(
                FlashAttention { head_dim: 64, ..ATTENTION },
                FlashAttentionTiling { lkp: 128, lqp: 512, ..CUT },
            ),
        ),
        edge(Rule::DvDivisible, good, of(ATTENTION, FlashAttentionTiling { dv_chunks: 32, ..CUT })),
        edge(Rule::HeadsDivisible, good, of(FlashAttention { heads: 9, ..ATTENTION }, CUT)),
        edge(Rule::QTileIsLkp, good, of(ATTENTION, FlashAttentionTiling { lqp: 512, ..CUT })),
        edge(Rule::WindowDivisible, of(windowed(128), CUT), of(windowed(96), CUT)),
        edge(
            Rule::HeadsPerUnroll,
            good,
            of(ATTENTION, FlashAttentionTiling { heads_per_unroll: 3, ..CUT }),
        ),
        edge(Rule::FourStages, good, of(ATTENTION, FlashAttentionTiling { stages: 2, ..CUT })),
        edge(
            Rule::SeqFirstOneChunk,
            of(seq_first(64), FlashAttentionTiling { dv_chunks: 1, ..CUT }),
            of(seq_first(128), CUT),
        ),
    ]
}

#[test]
fn every_rule_is_met_and_broken_by_a_hair() {
    let edges = [gemm_edges(), gemv_edges(), parallel_edges(), attention_edges()].concat();
    let mut tested: HashSet<Rule> = edges.into_iter().collect();
    // Of a program, tested below.
    tested.insert(Rule::ExternalInFusedElf);
    let missing: Vec<_> = Rule::ALL.iter().filter(|rule| !tested.contains(rule)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

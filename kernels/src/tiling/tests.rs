//! What is legal, what is proposed, and what a program may hold.

mod edges;

use super::*;
use crate::{
    Add, ArgIndex, AttentionLayout, FlashAttention, Gelu, Gemm, GemmOutput, Gemv, Launch,
    LayerNorm, Mask, Op, Program, ProgramError, RmsNorm, Role, Rope, Rounding, SiluMul,
    registry::Registry,
};

fn gemm_op([m, k, n]: [usize; 3], output: GemmOutput) -> Op {
    Op::Gemm(Gemm { m, k, n, output })
}

fn gemm([tile_m, tile_k_l2, tile_k_l1, tile_n]: [usize; 4], herd: [usize; 2]) -> Tiling {
    Tiling::Gemm(GemmTiling { tile_m, tile_k_l2, tile_k_l1, tile_n, herd })
}

fn gemv_op(m: usize, k: usize) -> Op {
    Op::Gemv(Gemv { m, k })
}

fn gemv(herd_m: usize, tile_m: usize, m_input: usize) -> Tiling {
    Tiling::Gemv(GemvTiling { herd_m, tile_m, m_input })
}

fn rms_norm(rows: usize, cols: usize) -> Op {
    Op::RmsNorm(RmsNorm { rows, cols, eps: 1e-5 })
}

fn norm(herd_x: usize) -> Tiling {
    Tiling::Norm(NormTiling { herd_x })
}

fn rope_op(tokens: usize, rotary_dim: usize) -> Op {
    Op::Rope(Rope { tokens, heads: 3, head_dim: 64, rotary_dim })
}

fn rope(herd: [usize; 2]) -> Tiling {
    Tiling::Rope(RopeTiling { herd })
}

fn add(n: usize) -> Op {
    Op::Add(Add { rows: 1, cols: n })
}

fn silu_mul(n: usize) -> Op {
    Op::SiluMul(SiluMul { rows: 1, cols: n })
}

fn gelu(n: usize) -> Op {
    Op::Gelu(Gelu { rows: 1, cols: n })
}

fn flat(tile_n: usize, herd: [usize; 2]) -> Tiling {
    Tiling::Elementwise(ElementwiseTiling { tile_n, herd })
}

const ATTENTION: FlashAttention = FlashAttention {
    tokens: 1024,
    heads: 12,
    kv_heads: 6,
    head_dim: 128,
    mask: Mask::Causal,
    layout: AttentionLayout::HeadsFirst,
};

const CUT: FlashAttentionTiling = FlashAttentionTiling {
    lqp: 256,
    lkp: 64,
    q_tiles: 4,
    heads_per_unroll: 2,
    stages: 4,
    dv_chunks: 2,
};

#[track_caller]
fn legal(op: &Op, tiling: Tiling) {
    assert_eq!(tiling.check(op), Ok(()));
}

#[track_caller]
fn breaks(rule: Rule, op: &Op, tiling: Tiling) {
    let illegal = tiling.check(op).expect_err(rule.name());
    assert_eq!(illegal.rule, rule, "{illegal}");
    let message = illegal.to_string();
    assert!(message.contains(&format!("breaks `{rule}`")), "{message}");
    assert!(message.contains(op.kernel()) && message.contains(&op.shape_key()), "{message}");
}

#[test]
fn every_measured_row_is_legal() {
    for row in Registry::published().rows() {
        legal(&row.op().unwrap(), row.tiling.unwrap());
    }
}

/// Read off the registry's pages: shape, `tile_k_l2`, `tile_k_l1`, `mean_rel_l1`.
#[test]
fn every_known_corrupt_gemm_is_refused_with_its_figure() {
    for (shape, [tile_m, tile_n], herd, [tile_k_l2, tile_k_l1], figure) in [
        ([256, 960, 320], [32, 80], [8, 4], [160, 32], "0.77"),
        ([2048, 960, 1024], [32, 64], [8, 4], [160, 80], "0.77"),
        ([256, 320, 320], [32, 80], [8, 4], [160, 32], "0.793"),
        ([64, 720, 960], [16, 80], [4, 4], [240, 48], "0.78 to 1.02"),
        ([64, 720, 960], [16, 80], [4, 4], [360, 40], "0.78 to 1.02"),
        ([64, 720, 960], [16, 80], [4, 4], [720, 48], "0.78 to 1.02"),
        ([64, 720, 960], [16, 80], [4, 4], [720, 80], "0.78 to 1.02"),
        ([64, 1440, 720], [16, 80], [4, 3], [288, 32], "0.7 to 1.0"),
        ([64, 1440, 720], [16, 80], [4, 3], [480, 32], "0.7 to 1.0"),
        ([192, 320, 64], [32, 16], [6, 4], [160, 32], "0.915"),
        ([192, 320, 64], [32, 16], [6, 4], [64, 64], "0.707"),
        ([192, 320, 64], [32, 16], [6, 4], [320, 64], "0.799"),
    ] {
        let op = gemm_op(shape, GemmOutput::Drain);
        let illegal = gemm([tile_m, tile_k_l2, tile_k_l1, tile_n], herd).check(&op).unwrap_err();
        assert_eq!(illegal.rule, Rule::SilentCorruption, "{illegal}");
        assert!(illegal.detail.ends_with(figure), "{illegal}");
    }
    // Their clean neighbours: K = 960 at 64, 192, 320 and 960.
    for tile_k_l2 in [64, 192, 320, 960] {
        legal(&gemm_op([256, 960, 320], GemmOutput::Drain), gemm([32, tile_k_l2, 32, 80], [8, 4]));
    }
}

/// 16384x2048 and 49152x2048 were measured, 151936x1024 is known not to build at any legal tile.
#[test]
fn a_vocabulary_in_one_piece_is_refused() {
    legal(&gemv_op(16_384, 2048), gemv(8, 8, 8));
    legal(&gemv_op(49_152, 2048), gemv(8, 8, 8));
    for tile_m in [2, 4, 8, 16] {
        breaks(Rule::GemvRepeatLimit, &gemv_op(151_936, 1024), gemv(8, tile_m, tile_m));
    }
}

#[test]
fn what_was_measured_is_chosen_and_what_was_not_is_proposed() {
    for row in Registry::published().rows() {
        let op = row.op().unwrap();
        assert_eq!(Tiling::choose(&op), row.tiling, "{}", row.name());
        let proposed = Tiling::propose(&op).unwrap_or_else(|| panic!("{}", row.name()));
        legal(&op, proposed);
    }
    let op = gemm_op([256, 576, 192], GemmOutput::Drain);
    assert!(Registry::published().measured(&op).is_err());
    // All 32 tiles; 32 rows on each of 8; 48 columns on each of 4; the largest even multiple of 32 in 576 up to 512.
    assert_eq!(Tiling::choose(&op), Some(gemm([32, 192, 32, 48], [8, 4])));
}

/// Shapes of `SmolLM2-135M`, which nobody has measured.
#[test]
fn a_proposal_fills_the_fabric_as_far_as_the_shape_allows() {
    let proposed = |op: &Op| Tiling::propose(op).map(|tiling| tiling.to_string());
    let gemm = |shape, output| proposed(&gemm_op(shape, output));
    assert_eq!(gemm([256, 576, 576], GemmOutput::Direct).as_deref(), Some("32/192/32/144 8x4"));
    assert_eq!(gemm([256, 1536, 576], GemmOutput::Drain).as_deref(), Some("32/512/32/144 8x4"));
    assert_eq!(gemm([1, 576, 576], GemmOutput::Drain), None, "mm.o takes 16 rows at a time");
    // 576 rows are 9 iterations of 8 tiles of 8 rows, but not a whole number of iterations of 8
    // tiles of 16.
    assert_eq!(proposed(&gemv_op(576, 1536)).as_deref(), Some("8/8/8"));
    assert_eq!(proposed(&rms_norm(1, 576)).as_deref(), Some("1"));
    assert_eq!(proposed(&rope_op(3, 64)).as_deref(), Some("3x1"));
    assert_eq!(proposed(&add(256 * 576)).as_deref(), Some("3072 8x1"));
    let attention = |tokens, heads| {
        let op = FlashAttention { tokens, heads, kv_heads: 3, head_dim: 64, ..ATTENTION };
        proposed(&Op::FlashAttention(op))
    };
    assert_eq!(attention(256, 6).as_deref(), Some("256/64/4/2/4/1"));
    assert_eq!(attention(512, 9).as_deref(), Some("512/64/8/1/4/1"));
    assert_eq!(attention(256, 9).as_deref(), Some("256/64/4/1/4/1"));
}

/// A row knows no layout; the seq-first kernel takes one piece of the value dimension.
#[test]
fn a_measured_tiling_that_the_layout_does_not_take_is_not_chosen() {
    let op = |layout| {
        let shape = FlashAttention { tokens: 2048, heads: 16, kv_heads: 8, layout, ..ATTENTION };
        Op::FlashAttention(shape)
    };
    assert!(Tiling::choose(&op(AttentionLayout::HeadsFirst)).is_some());
    assert_eq!(Tiling::choose(&op(AttentionLayout::SeqFirst)), None);
}

/// `c = a b` and `d = c + e`, or only the first.
fn program(output: GemmOutput, tiling: Tiling, launches: usize) -> Program {
    let gemm = gemm_op([512, 512, 512], output);
    let mut program = Program::single(gemm, Rounding::NearestEven);
    program.launches[0].tiling = Some(tiling);
    if launches == 2 {
        let second = Program::single(gemm, Rounding::NearestEven);
        program.args.extend(second.args.into_iter().map(|mut arg| {
            arg.name.push('2');
            arg
        }));
        program.launches.push(Launch::new(gemm, [3, 4, 5].map(ArgIndex), Rounding::NearestEven));
    }
    assert!(program.args.iter().any(|arg| arg.role == Role::Output));
    program
}

#[test]
fn a_program_with_an_illegal_tiling_is_refused_by_the_rules_name() {
    let good = gemm([32, 256, 32, 128], [8, 4]);
    assert_eq!(program(GemmOutput::Drain, good, 1).check(), Ok(()));
    let error = program(GemmOutput::Drain, gemm([64, 256, 32, 128], [8, 4]), 1).check();
    let error = error.unwrap_err();
    assert!(matches!(&error, ProgramError::Tiling { launch: 0, .. }), "{error}");
    assert!(error.to_string().contains("breaks `l1-capacity`"), "{error}");
}

#[test]
fn an_external_gemm_of_a_fused_program_has_one_iteration_along_m() {
    let (one, two) = (gemm([64, 256, 32, 128], [8, 4]), gemm([32, 256, 32, 128], [8, 4]));
    assert_eq!(program(GemmOutput::F32External, two, 1).check(), Ok(()));
    assert_eq!(program(GemmOutput::F32External, one, 2).check(), Ok(()));
    let error = program(GemmOutput::F32External, two, 2).check().unwrap_err();
    assert!(error.to_string().contains("breaks `external-in-fused-elf`"), "{error}");
    assert_eq!(program(GemmOutput::Direct, two, 2).check(), Ok(()));
}

#[test]
fn a_drain_in_a_fused_program_is_noted_and_not_refused() {
    let tiling = gemm([32, 256, 32, 128], [8, 4]);
    let fused = program(GemmOutput::Drain, tiling, 2);
    assert_eq!(fused.check(), Ok(()));
    let notes = fused.tiling_notes();
    assert_eq!(notes.len(), 1);
    assert!(notes[0].to_string().starts_with("launch 0: a drain GEMM is reported"));
    assert!(program(GemmOutput::Drain, tiling, 1).tiling_notes().is_empty());
}

//! All vector units of this machine give the same bits, for every kernel.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use npugate_kernels::{
    Add, AttentionLayout, EmulatorOptions, FlashAttention, Gelu, Gemm, GemmOutput, Gemv, Kernel,
    LayerNorm, Mask, Op, RmsNorm, Rope, Rounding, SiluMul, Softmax, Tensor, VectorUnit,
    inputs::{self, Draw},
};
use support::launch_with;

fn ops() -> Vec<Op> {
    // Sizes that leave a rest in every direction: rows of a tile, columns of a panel, K of a group.
    let gemms = GemmOutput::ALL.map(|output| Op::Gemm(Gemm { m: 83, k: 104, n: 77, output }));
    let attention = |head_dim, mask, layout| {
        let (tokens, heads, kv_heads) = (256, 2, 1);
        Op::FlashAttention(FlashAttention { tokens, heads, kv_heads, head_dim, mask, layout })
    };
    let attentions = [
        attention(64, Mask::Causal, AttentionLayout::SeqFirst),
        attention(128, Mask::Causal, AttentionLayout::HeadsFirst),
        attention(256, Mask::Full, AttentionLayout::SeqFirst),
        attention(64, Mask::SlidingWindow(64), AttentionLayout::SeqFirst),
        attention(64, Mask::SlidingWindow(128), AttentionLayout::HeadsFirst),
    ];
    let others = [
        Op::Gemv(Gemv { m: 37, k: 320 }),
        Op::RmsNorm(RmsNorm { rows: 5, cols: 48, eps: 1e-5 }),
        Op::LayerNorm(LayerNorm { rows: 5, cols: 48, eps: 1e-5 }),
        Op::Rope(Rope { tokens: 7, heads: 3, head_dim: 48, rotary_dim: 48 }),
        Op::Rope(Rope { tokens: 7, heads: 3, head_dim: 128, rotary_dim: 96 }),
        Op::SiluMul(SiluMul { rows: 3, cols: 331 }),
        Op::Gelu(Gelu { rows: 3, cols: 331 }),
        Op::Softmax(Softmax { rows: 5, cols: 48 }),
        Op::Add(Add { rows: 3, cols: 331 }),
    ];
    let ops: Vec<Op> = gemms.into_iter().chain(attentions).chain(others).collect();
    for kernel in Kernel::ALL {
        assert!(ops.iter().any(|op| op.kind() == kernel), "{kernel} is missing");
    }
    ops
}

fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.to_f32().into_iter().map(f32::to_bits).collect()
}

#[test]
fn all_vector_units_give_the_same_bits() {
    let units = VectorUnit::available();
    for op in ops() {
        let inputs = inputs::draw(&op, Draw::Registry { seed: 7 });
        for rounding in [Rounding::NearestEven, Rounding::Floor, Rounding::TowardZero] {
            let run = |unit: VectorUnit| {
                let options =
                    EmulatorOptions { vector_unit: Some(unit), ..EmulatorOptions::default() };
                bits(&launch_with(options, op, rounding, &inputs))
            };
            let scalar = run("scalar".parse().unwrap());
            for &unit in &units {
                let name = (op.kernel(), op.shape_key(), op.tier(), rounding, unit.name());
                assert!(run(unit) == scalar, "{name:?} differs from scalar");
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let with_threads = |threads: usize, op: Op, inputs: &[Tensor]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            bits(&launch_with(EmulatorOptions::default(), op, Rounding::NearestEven, inputs))
        })
    };
    // Each in more pieces than there are threads, the last one shorter.
    let large = [
        Op::Gemm(Gemm { m: 200, k: 256, n: 96, output: GemmOutput::Drain }),
        Op::Gemv(Gemv { m: 1000, k: 576 }),
        Op::Add(Add { rows: 101, cols: 1000 }),
        Op::RmsNorm(RmsNorm { rows: 101, cols: 576, eps: 1e-5 }),
        Op::LayerNorm(LayerNorm { rows: 101, cols: 576, eps: 1e-5 }),
        Op::Rope(Rope { tokens: 101, heads: 9, head_dim: 64, rotary_dim: 48 }),
        Op::SiluMul(SiluMul { rows: 101, cols: 1000 }),
        Op::Gelu(Gelu { rows: 101, cols: 1000 }),
        Op::Softmax(Softmax { rows: 101, cols: 576 }),
    ];
    for op in ops().into_iter().chain(large) {
        let inputs = inputs::draw(&op, Draw::Registry { seed: 7 });
        let one = with_threads(1, op, &inputs);
        for threads in [2, 3] {
            let name = format!("{} {}, {threads} threads", op.kernel(), op.shape_key());
            assert!(with_threads(threads, op, &inputs) == one, "{name}");
        }
    }
}

#[test]
fn a_vector_unit_that_is_not_there_is_refused() {
    let error = "avx1024".parse::<VectorUnit>().unwrap_err().to_string();
    assert!(error.contains("`avx1024`") && error.contains("scalar"), "{error}");
}

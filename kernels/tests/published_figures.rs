//! The emulated NPU is as far from the f32 reference as silicon was.
//!
//! The figures are the `mean_rel_L1` that the kernel registry of Xilinx/mlir-air (commit e972f294)
//! publishes for these shapes. Inputs here are of the same distribution, not the same values, so
//! they are met within a few percent.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use npugate_kernels::{
    Add, AttentionLayout, DType, FlashAttention, Gelu, Gemm, GemmOutput, LayerNorm, Mask, Op,
    RmsNorm, Rope, SiluMul, Toolchain,
    inputs::{self, Draw},
    reference, registry,
};
use support::{launch, mean_rel_l1, narrowed};

#[track_caller]
fn meets(op: Op, published: f64, within: f64) {
    let inputs = inputs::draw(&op, Draw::Registry { seed: 42 });
    let output = launch(Toolchain::Npu2_2026_06, op, &inputs);
    let mut reference = reference::run(&op, &inputs).unwrap();
    if output.dtype() == DType::Bf16 {
        reference = narrowed(&reference);
    }
    let output = output.to_f32();
    let found = mean_rel_l1(&output, &reference);
    let name = format!("{} {}", op.kernel(), op.shape_key());
    assert!(
        (found / published - 1.0).abs() <= within,
        "{name}: mean_rel_L1 {found:.3e}, published {published:.3e}"
    );
    let tolerance = registry::tolerance(&op);
    let outside = output.iter().zip(&reference).filter(|(y, r)| !tolerance.accepts(**y, **r));
    assert_eq!(outside.count(), 0, "{name}: elements outside the registry's tolerance");
}

fn gemm(m: usize, k: usize, n: usize, output: GemmOutput) -> Op {
    Op::Gemm(Gemm { m, k, n, output })
}

#[test]
fn a_gemm_of_f32_output_is_bfp16_away_from_its_reference() {
    meets(gemm(512, 512, 512, GemmOutput::F32External), 9.3e-3, 0.03);
    meets(gemm(512, 512, 512, GemmOutput::F32Direct), 9.3e-3, 0.03);
    meets(gemm(1024, 1024, 1024, GemmOutput::F32External), 9.5e-3, 0.02);
}

#[test]
fn a_drained_gemm_has_the_published_error() {
    meets(gemm(512, 512, 512, GemmOutput::Drain), 9.3e-3, 0.03);
    meets(gemm(256, 960, 960, GemmOutput::Drain), 9.5e-3, 0.02);
    meets(gemm(64, 1440, 720, GemmOutput::Drain), 9.29e-3, 0.03);
}

#[test]
fn a_fused_cast_gemm_pays_for_the_floor_of_its_cast_launch() {
    meets(gemm(512, 512, 512, GemmOutput::FusedCast), 9.7e-3, 0.03);
    meets(gemm(1024, 1024, 1024, GemmOutput::FusedCast), 9.9e-3, 0.02);
}

#[test]
fn a_direct_gemm_pays_for_rounding_every_32_of_k() {
    meets(gemm(512, 512, 512, GemmOutput::Direct), 1.0e-2, 0.05);
    meets(gemm(512, 2048, 512, GemmOutput::Direct), 1.3e-2, 0.03);
    meets(gemm(256, 8192, 256, GemmOutput::Direct), 1.9e-2, 0.04);
}

#[test]
fn an_add_is_one_floor_away_from_its_reference() {
    meets(Op::Add(Add { rows: 1024, cols: 1024 }), 1.9e-3, 0.02);
}

#[test]
fn a_rope_is_one_floor_away_from_its_reference() {
    meets(Op::Rope(Rope { tokens: 2048, heads: 1, head_dim: 64, rotary_dim: 64 }), 2.8e-3, 0.02);
    meets(Op::Rope(Rope { tokens: 256, heads: 1, head_dim: 64, rotary_dim: 64 }), 2.8e-3, 0.03);
}

#[test]
fn an_rms_norm_is_three_floors_away_from_its_reference() {
    meets(Op::RmsNorm(RmsNorm { rows: 2048, cols: 1024, eps: 1e-5 }), 4.3e-3, 0.03);
    meets(Op::RmsNorm(RmsNorm { rows: 2048, cols: 128, eps: 1e-5 }), 4.6e-3, 0.03);
    meets(Op::RmsNorm(RmsNorm { rows: 256, cols: 960, eps: 1e-5 }), 4.2e-3, 0.04);
}

#[test]
fn a_layer_norm_is_five_floors_away_from_its_reference() {
    meets(Op::LayerNorm(LayerNorm { rows: 1024, cols: 768, eps: 1e-5 }), 4.4e-3, 0.03);
}

#[test]
fn a_gelu_has_the_error_that_its_tanh_was_fitted_to() {
    meets(Op::Gelu(Gelu { rows: 1024, cols: 1024 }), 8.4e-3, 0.02);
}

#[test]
fn a_silu_mul_has_the_error_that_its_tanh_was_fitted_to() {
    meets(Op::SiluMul(SiluMul { rows: 256, cols: 2560 }), 1.0e-2, 0.04);
}

#[test]
fn flash_attention_is_dominated_by_its_exp2() {
    let attention = |heads, kv_heads, head_dim| {
        Op::FlashAttention(FlashAttention {
            tokens: 512,
            heads,
            kv_heads,
            head_dim,
            mask: Mask::Full,
            layout: AttentionLayout::SeqFirst,
        })
    };
    meets(attention(2, 2, 64), 4.4e-2, 0.04);
    meets(attention(12, 6, 64), 4.6e-2, 0.04);
    meets(attention(28, 4, 128), 4.4e-2, 0.04);
}

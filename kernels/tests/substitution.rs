//! A launch that is run by its f32 reference, for bisecting.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use npugate_kernels::{
    AttentionLayout, EmulatorOptions, FlashAttention, Kernel, Mask, Op, Rounding, Substitution,
    inputs::{self, Draw},
    reference,
};
use support::{launch_with, narrowed};

#[test]
fn a_substituted_launch_equals_its_reference_narrowed() {
    let op = Op::FlashAttention(FlashAttention {
        tokens: 256,
        heads: 2,
        kv_heads: 2,
        head_dim: 64,
        mask: Mask::Causal,
        layout: AttentionLayout::SeqFirst,
    });
    let inputs = inputs::draw(&op, Draw::Registry { seed: 1 });
    let reference = narrowed(&reference::run(&op, &inputs).unwrap());
    for substitution in
        ["flash_attention", "flash_attention_s256_d64_q2_kv2_causal:0"].map(str::parse)
    {
        let options = EmulatorOptions {
            substitute: vec![substitution.unwrap()],
            ..EmulatorOptions::default()
        };
        assert_eq!(launch_with(options, op, Rounding::Floor, &inputs).to_f32(), reference);
    }
    let other = vec![Substitution::Kernel(Kernel::Gemm)];
    let options = EmulatorOptions { substitute: other, ..EmulatorOptions::default() };
    assert_ne!(launch_with(options, op, Rounding::NearestEven, &inputs).to_f32(), reference);
    assert!("flash".parse::<Substitution>().is_err() && "o_ffn:x".parse::<Substitution>().is_err());
}

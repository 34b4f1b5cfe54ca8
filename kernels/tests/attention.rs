//! What the layouts and masks of FlashAttention mean, apart from its arithmetic.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use half::bf16;
use npugate_kernels::{
    AttentionLayout, EmulatorOptions, FlashAttention, Mask, Op, Rounding, Tensor,
    inputs::{self, Draw},
    reference, registry,
};
use support::{launch_with, narrowed};

const TOKENS: usize = 512;

fn attention(mask: Mask) -> FlashAttention {
    let layout = AttentionLayout::SeqFirst;
    FlashAttention { tokens: TOKENS, heads: 4, kv_heads: 2, head_dim: 64, mask, layout }
}

fn draw(op: FlashAttention) -> Vec<Tensor> {
    inputs::draw(&Op::FlashAttention(op), Draw::Registry { seed: 11 })
}

fn run(op: FlashAttention, inputs: &[Tensor]) -> Vec<f32> {
    let options = EmulatorOptions::default();
    launch_with(options, Op::FlashAttention(op), Rounding::NearestEven, inputs).to_f32()
}

/// `[tokens, heads * d]` to `[heads, tokens, d]`.
fn heads_first(values: &[f32], heads: usize, d: usize) -> Vec<f32> {
    let tokens = values.len() / (heads * d);
    let row = |head: usize, token: usize| &values[(token * heads + head) * d..][..d];
    (0..heads).flat_map(|h| (0..tokens).flat_map(move |t| row(h, t))).copied().collect()
}

fn tensor(shape: impl Into<Vec<usize>>, values: &[f32]) -> Tensor {
    Tensor::bf16(shape, values.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>()).unwrap()
}

#[test]
fn both_layouts_give_the_same_bits() {
    for (mask, d, kv_heads) in [
        (Mask::Causal, 64, 2),
        (Mask::Full, 128, 4),
        (Mask::SlidingWindow(128), 64, 1),
        (Mask::Causal, 256, 2),
    ] {
        let by_token = FlashAttention { head_dim: d, kv_heads, ..attention(mask) };
        let by_head = FlashAttention { layout: AttentionLayout::HeadsFirst, ..by_token };
        let inputs = draw(by_token);
        let moved = inputs.iter().zip([4, kv_heads, kv_heads]).map(|(tensor, heads)| {
            self::tensor([heads, TOKENS, d], &heads_first(&tensor.to_f32(), heads, d))
        });
        let moved: Vec<Tensor> = moved.collect();
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let expected = heads_first(&run(by_token, &inputs), 4, d);
        assert!(bits(&run(by_head, &moved)) == bits(&expected), "{by_token:?}");

        let reference = |op, inputs: &[Tensor]| reference::run(&Op::FlashAttention(op), inputs);
        let expected = heads_first(&reference(by_token, &inputs).unwrap(), 4, d);
        assert!(reference(by_head, &moved).unwrap() == expected, "reference of {by_token:?}");
    }
}

#[test]
fn a_window_of_all_tokens_is_the_causal_mask() {
    let inputs = draw(attention(Mask::Causal));
    let causal = run(attention(Mask::Causal), &inputs);
    assert!(run(attention(Mask::SlidingWindow(TOKENS)), &inputs) == causal);
    // A query within the first 128 positions sees the same of either.
    let windowed = run(attention(Mask::SlidingWindow(128)), &inputs);
    let width = 4 * 64;
    assert!(windowed[..128 * width] == causal[..128 * width]);
    assert!(windowed[128 * width..] != causal[128 * width..]);
}

/// Keys are quantised along `head_dim`, each by itself, so one that is not seen leaves no trace.
#[test]
fn a_query_sees_as_many_keys_as_its_window_holds_and_no_more() {
    const WINDOW: usize = 64;
    const KEY: usize = 200;
    let op = attention(Mask::SlidingWindow(WINDOW));
    let inputs = draw(op);
    let mut keys = inputs[1].to_f32();
    let width = 2 * 64;
    keys[KEY * width..][..width].fill(3.0);
    let changed = [inputs[0].clone(), tensor([TOKENS, width], &keys), inputs[2].clone()];
    let (before, after) = (run(op, &inputs), run(op, &changed));
    let width = 4 * 64;
    let differs =
        |token: &usize| before[token * width..][..width] != after[token * width..][..width];
    let affected: Vec<usize> = (0..TOKENS).filter(differs).collect();
    // All heads of a token would have to miss it: the first and the last query that see it do not.
    assert_eq!((affected.first(), affected.last()), (Some(&KEY), Some(&(KEY + WINDOW - 1))));
}

#[test]
fn every_mask_and_head_dimension_keeps_the_registrys_tolerance() {
    for (mask, head_dim, kv_heads) in [
        (Mask::SlidingWindow(64), 64, 2),
        (Mask::SlidingWindow(256), 128, 1),
        (Mask::Causal, 256, 4),
        (Mask::Full, 256, 1),
    ] {
        let op = FlashAttention { head_dim, kv_heads, ..attention(mask) };
        let inputs = draw(op);
        let reference = narrowed(&reference::run(&Op::FlashAttention(op), &inputs).unwrap());
        let tolerance = registry::tolerance(&Op::FlashAttention(op));
        let found = run(op, &inputs);
        assert_eq!(found.len(), reference.len());
        let outside = found.iter().zip(&reference).filter(|(y, r)| !tolerance.accepts(**y, **r));
        assert_eq!(outside.count(), 0, "{op:?}");
    }
}

//! Softmax attention in f32, block of queries by block of queries.

use rayon::prelude::*;

use super::{FlashAttention, layout::AttentionLayout};
use crate::{kernel::product::product, kernels::softmax::normalise};

/// Queries whose scores are held at once; divides every legal number of tokens.
const BLOCK: usize = 128;
/// What the registry's reference puts where a key is masked.
const MASKED: f32 = -1e9;

pub(super) fn attention(op: &FlashAttention, q: &[f32], k: &[f32], v: &[f32]) -> Vec<f32> {
    let (tokens, d) = (op.tokens, op.head_dim);
    // Head by head in either layout, so that a block is one piece of memory.
    let mut out = vec![0.0; q.len()];
    let blocks = tokens / BLOCK;
    out.par_chunks_mut(BLOCK * d).enumerate().for_each(|(i, out)| {
        attend(op, i / blocks, i % blocks * BLOCK, (q, k, v), out);
    });
    match op.layout {
        AttentionLayout::HeadsFirst => out,
        AttentionLayout::SeqFirst => {
            let row = |token: usize, head: usize| &out[(head * tokens + token) * d..][..d];
            let rows = (0..tokens).flat_map(|t| (0..op.heads).map(move |head| row(t, head)));
            rows.flatten().copied().collect()
        }
    }
}

/// One head of [`BLOCK`] queries from `first` on: `out[BLOCK, head_dim]`.
fn attend(
    op: &FlashAttention,
    head: usize,
    first: usize,
    (q, k, v): (&[f32], &[f32], &[f32]),
    out: &mut [f32],
) {
    let (d, tokens) = (op.head_dim, op.tokens);
    let queries = op.layout.strides(tokens, op.heads, d);
    let keys = op.layout.strides(tokens, op.kv_heads, d);
    let kv_at = head / (op.heads / op.kv_heads) * keys.head;
    let mut scores = vec![0.0; BLOCK * tokens];
    let q = (&q[first * queries.token + head * queries.head..], queries.token as isize, 1);
    let k = (&k[kv_at..], 1, keys.token as isize);
    product(BLOCK, d, tokens, q, k, &mut scores);
    let scale = 1.0 / (d as f32).sqrt();
    for (row, scores) in scores.chunks_mut(tokens).enumerate() {
        let visible = op.mask.keys(first + row, tokens);
        for (key, score) in scores.iter_mut().enumerate() {
            *score = if visible.contains(&key) { *score * scale } else { MASKED };
        }
        normalise(scores);
    }
    let v = (&v[kv_at..], keys.token as isize, 1);
    product(BLOCK, tokens, d, (&scores, tokens as isize, 1), v, out);
}

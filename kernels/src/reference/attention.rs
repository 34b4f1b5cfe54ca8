//! Softmax attention in f32, block of queries by block of queries.

use rayon::prelude::*;

use super::product::product;
use crate::{FlashAttention, Mask};

/// Queries whose scores are held at once.
const BLOCK: usize = 128;
/// What the registry's reference puts where a key is masked.
const MASKED: f32 = -1e9;

pub(super) fn attention(op: &FlashAttention, q: &[f32], k: &[f32], v: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; q.len()];
    let width = op.heads * op.head_dim;
    out.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, out)| {
        let rows = out.len() / width;
        let mut scores = vec![0.0; rows * op.tokens];
        let mut head_out = vec![0.0; rows * op.head_dim];
        for head in 0..op.heads {
            attend(op, head, block * BLOCK, (q, k, v), &mut scores, &mut head_out);
            for (row, values) in head_out.chunks(op.head_dim).enumerate() {
                let at = row * width + head * op.head_dim;
                out[at..at + op.head_dim].copy_from_slice(values);
            }
        }
    });
    out
}

/// One head of the queries from `first` on: `out[rows, head_dim]`, with room for their scores.
fn attend(
    op: &FlashAttention,
    head: usize,
    first: usize,
    (q, k, v): (&[f32], &[f32], &[f32]),
    scores: &mut [f32],
    out: &mut [f32],
) {
    let (d, tokens) = (op.head_dim, op.tokens);
    let rows = out.len() / d;
    let (q_width, kv_width) = (op.heads * d, op.kv_heads * d);
    let kv_at = head / (op.heads / op.kv_heads) * d;
    let q = &q[first * q_width + head * d..];
    let keys = (&k[kv_at..], 1, kv_width as isize);
    product(rows, d, tokens, (q, q_width as isize, 1), keys, scores);
    let scale = 1.0 / (d as f32).sqrt();
    for (row, scores) in scores.chunks_mut(tokens).enumerate() {
        for (key, score) in scores.iter_mut().enumerate() {
            let visible = op.mask == Mask::Full || key <= first + row;
            *score = if visible { *score * scale } else { MASKED };
        }
        softmax(scores);
    }
    let values = (&v[kv_at..], kv_width as isize, 1);
    product(rows, tokens, d, (scores, tokens as isize, 1), values, out);
}

fn softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - max).exp();
        sum += f64::from(*score);
    }
    let inverse = (1.0 / sum) as f32;
    for p in scores {
        *p *= inverse;
    }
}

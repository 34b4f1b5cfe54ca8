//! Attention on the host: f32 over bf16 keys and values, the context rounded to
//! bf16 once.

use super::tensors::widen;
use half::bf16;
use rayon::prelude::*;

/// Partial sums of a dot product, so that it is vectorised.
const LANES: usize = 16;

/// Grouped-query attention of rows `[heads * head_dim]` over keys and values
/// `[positions, kv_heads * head_dim]`.
pub(super) struct HostAttention {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    scratch: Scratch,
}

/// What one row needs on the way; kept, so that a token allocates nothing.
#[derive(Clone, Default)]
struct Scratch {
    /// The query heads of one group, widened.
    queries: Vec<f32>,
    /// Softmax weights of one group, `[heads of the group, positions]`.
    weights: Vec<f32>,
    /// One key or value row of one head, widened.
    row: Vec<f32>,
    /// The context of one group.
    context: Vec<f32>,
}

impl HostAttention {
    pub(super) fn new(heads: usize, kv_heads: usize, head_dim: usize) -> Self {
        Self { heads, kv_heads, head_dim, scratch: Scratch::default() }
    }

    /// The context of one row `q` over all positions of `keys` and `values`.
    pub(super) fn attend(&mut self, q: &[bf16], keys: &[bf16], values: &[bf16], out: &mut [bf16]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.row(q, keys, values, out, &mut scratch);
        self.scratch = scratch;
    }

    /// The context of the first `positions` rows of `q`, each over the keys and
    /// values up to its own position. Rows of `out` beyond are left alone.
    pub(super) fn causal(
        &self,
        positions: usize,
        q: &[bf16],
        keys: &[bf16],
        values: &[bf16],
        out: &mut [bf16],
    ) {
        let (width, kv_width) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let rows = q.par_chunks_exact(width).zip(out.par_chunks_exact_mut(width)).enumerate();
        rows.take(positions).for_each_init(Scratch::default, |scratch, (pos, (q, out))| {
            let seen = (pos + 1) * kv_width;
            self.row(q, &keys[..seen], &values[..seen], out, scratch);
        });
    }

    fn row(
        &self,
        q: &[bf16],
        keys: &[bf16],
        values: &[bf16],
        out: &mut [bf16],
        scratch: &mut Scratch,
    ) {
        let head_dim = self.head_dim;
        let kv_width = self.kv_heads * head_dim;
        let group_width = self.heads / self.kv_heads * head_dim;
        let groups = q.chunks_exact(group_width).zip(out.chunks_exact_mut(group_width));
        for (kv_head, (q, out)) in groups.enumerate() {
            let columns = kv_head * head_dim..(kv_head + 1) * head_dim;
            let keys = keys.chunks_exact(kv_width).map(|row| &row[columns.clone()]);
            let values = values.chunks_exact(kv_width).map(|row| &row[columns.clone()]);
            scratch.group(q, keys, values, head_dim);
            for (out, context) in out.iter_mut().zip(&scratch.context) {
                *out = bf16::from_f32(*context);
            }
        }
    }
}

impl Scratch {
    /// The context of the query heads that share a key head.
    fn group<'a>(
        &mut self,
        q: &[bf16],
        keys: impl ExactSizeIterator<Item = &'a [bf16]>,
        values: impl Iterator<Item = &'a [bf16]>,
        head_dim: usize,
    ) {
        let Self { queries, weights, row, context } = self;
        let positions = keys.len();
        let scale = 1.0 / (head_dim as f32).sqrt();
        queries.clear();
        queries.extend(q.iter().map(|value| widen(*value)));
        weights.resize(q.len() / head_dim * positions, 0.0);
        for (pos, key) in keys.enumerate() {
            widen_row(key, row);
            for (head, query) in queries.chunks_exact(head_dim).enumerate() {
                weights[head * positions + pos] = dot(query, row) * scale;
            }
        }
        weights.chunks_exact_mut(positions).for_each(softmax);
        context.clear();
        context.resize(q.len(), 0.0);
        for (pos, value) in values.enumerate() {
            widen_row(value, row);
            for (head, context) in context.chunks_exact_mut(head_dim).enumerate() {
                let weight = weights[head * positions + pos];
                for (context, value) in context.iter_mut().zip(&*row) {
                    *context += weight * value;
                }
            }
        }
    }
}

fn widen_row(from: &[bf16], to: &mut Vec<f32>) {
    to.clear();
    to.extend(from.iter().map(|value| widen(*value)));
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    let mut sums = [0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: f32 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + tail
}

/// Turns scores into weights that sum to one.
fn softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in &mut *scores {
        *score = (*score - max).exp();
        sum += *score;
    }
    for score in scores {
        *score /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f32]) -> Vec<bf16> {
        values.iter().map(|value| bf16::from_f32(*value)).collect()
    }

    #[test]
    fn a_query_takes_the_value_of_the_key_that_it_fits() {
        // Two query heads of width 1 share one key head.
        let mut attention = HostAttention::new(2, 1, 1);
        let (keys, values) = (row(&[100.0, -100.0]), row(&[7.0, 9.0]));
        let mut out = row(&[0.0; 2]);
        attention.attend(&row(&[1.0, -1.0]), &keys, &values, &mut out);
        assert_eq!(out, row(&[7.0, 9.0]));
    }

    #[test]
    fn equal_scores_average_the_values_seen_so_far() {
        let attention = HostAttention::new(1, 1, 1);
        let (q, values) = (row(&[0.0; 3]), row(&[1.0, 3.0, 100.0]));
        let mut out = row(&[0.0; 3]);
        attention.causal(2, &q, &row(&[1.0; 3]), &values, &mut out);
        assert_eq!(out, row(&[1.0, 2.0, 0.0]));
    }

    #[test]
    fn key_heads_serve_neighbouring_query_heads() {
        let mut attention = HostAttention::new(4, 2, 1);
        let mut out = row(&[0.0; 4]);
        attention.attend(&row(&[1.0; 4]), &row(&[1.0, 1.0]), &row(&[5.0, 6.0]), &mut out);
        assert_eq!(out, row(&[5.0, 5.0, 6.0, 6.0]));
    }

    #[test]
    fn a_score_that_is_not_finite_shows_in_the_context() {
        let mut attention = HostAttention::new(1, 1, 1);
        let mut out = row(&[0.0]);
        attention.attend(&row(&[1.0]), &row(&[f32::NAN]), &row(&[1.0]), &mut out);
        assert!(out[0].is_nan());
    }
}

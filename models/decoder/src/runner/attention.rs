//! Attention on the host: f32 over bf16 keys and values, the context rounded to
//! bf16 once.

use super::{
    layer_cache::{LayerCache, TILE},
    tensors::widen,
};
use half::bf16;
use rayon::prelude::*;

/// Grouped-query attention of rows `[heads * head_dim]` over a layer's keys and
/// values.
pub(super) struct HostAttention {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    /// One for each key head.
    scratch: Vec<Scratch>,
}

/// The number of positions from which several threads are faster than one for all
/// key heads.
const SERIAL: usize = 32;

/// Buffers for one group of query heads, kept so that a token allocates nothing.
#[derive(Clone, Default)]
struct Scratch {
    /// The query heads of one group, widened.
    queries: Vec<f32>,
    /// Scores and then softmax weights of one group,
    /// `[heads of the group, positions up to a whole tile]`.
    weights: Vec<f32>,
    /// A tile of keys or a row of values of one head, widened.
    widened: Vec<f32>,
    /// The context of one group.
    context: Vec<f32>,
}

impl HostAttention {
    pub(super) fn new(heads: usize, kv_heads: usize, head_dim: usize) -> Self {
        Self { heads, kv_heads, head_dim, scratch: vec![Scratch::default(); kv_heads] }
    }

    /// Returns the width of the query heads that share a key head.
    fn group_width(&self) -> usize {
        self.heads / self.kv_heads * self.head_dim
    }

    /// Computes the context of one row `q` over all positions of a layer.
    pub(super) fn attend(&mut self, q: &[bf16], layer: &LayerCache, out: &mut [bf16]) {
        let (width, head_dim, positions) = (self.group_width(), self.head_dim, layer.positions());
        let groups = q.par_chunks_exact(width).zip(out.par_chunks_exact_mut(width));
        let groups = groups.zip(&mut self.scratch).enumerate();
        let pieces = if positions < SERIAL { self.kv_heads } else { 1 };
        groups.with_min_len(pieces).for_each(|(kv_head, ((q, out), scratch))| {
            scratch.group(q, layer, kv_head, head_dim, positions, out);
        });
    }

    /// Computes the contexts of the first rows of `q`, one for each position of
    /// the layer, each over the positions up to its own. Leaves further rows of
    /// `out` as they are.
    pub(super) fn causal(&self, q: &[bf16], layer: &LayerCache, out: &mut [bf16]) {
        let width = self.heads * self.head_dim;
        let rows = q.par_chunks_exact(width).zip(out.par_chunks_exact_mut(width)).enumerate();
        rows.take(layer.positions()).for_each_init(Scratch::default, |scratch, (pos, (q, out))| {
            self.row(q, layer, pos + 1, out, scratch);
        });
    }

    /// Computes the context of one row over the first `positions`.
    fn row(
        &self,
        q: &[bf16],
        layer: &LayerCache,
        positions: usize,
        out: &mut [bf16],
        scratch: &mut Scratch,
    ) {
        let width = self.group_width();
        let groups = q.chunks_exact(width).zip(out.chunks_exact_mut(width));
        for (kv_head, (q, out)) in groups.enumerate() {
            scratch.group(q, layer, kv_head, self.head_dim, positions, out);
        }
    }
}

impl Scratch {
    /// Computes the context of the query heads that share a key head, over the first `positions`.
    fn group(
        &mut self,
        q: &[bf16],
        layer: &LayerCache,
        kv_head: usize,
        head_dim: usize,
        positions: usize,
        out: &mut [bf16],
    ) {
        let columns = kv_head * head_dim..(kv_head + 1) * head_dim;
        let tiles = positions.div_ceil(TILE);
        self.score(q, layer.key_tiles(columns.clone()).take(tiles), head_dim, tiles * TILE);
        self.weigh(layer.value_rows(columns).take(positions), head_dim, positions);
        for (out, context) in out.iter_mut().zip(&self.context) {
            *out = bf16::from_f32(*context);
        }
    }

    /// Computes the scores of the query heads that share a key head.
    fn score<'a>(
        &mut self,
        q: &[bf16],
        tiles: impl Iterator<Item = &'a [bf16]>,
        head_dim: usize,
        padded: usize,
    ) {
        let Self { queries, weights, widened, .. } = self;
        let scale = 1.0 / (head_dim as f32).sqrt();
        queries.clear();
        queries.extend(q.iter().map(|value| widen(*value)));
        weights.resize(q.len() / head_dim * padded, 0.0);
        for (tile, keys) in tiles.enumerate() {
            widen_into(keys, widened);
            for (head, query) in queries.chunks_exact(head_dim).enumerate() {
                let scores = score_tile(query, widened);
                weights[head * padded + tile * TILE..][..TILE]
                    .copy_from_slice(&scores.map(|score| score * scale));
            }
        }
    }

    /// Turns the scores into softmax weights and sums the values by them.
    fn weigh<'a>(
        &mut self,
        values: impl Iterator<Item = &'a [bf16]>,
        head_dim: usize,
        positions: usize,
    ) {
        let Self { queries, weights, widened, context } = self;
        let padded = positions.next_multiple_of(TILE);
        weights.chunks_exact_mut(padded).for_each(|scores| softmax(&mut scores[..positions]));
        context.clear();
        context.resize(queries.len(), 0.0);
        for (pos, value) in values.enumerate() {
            widen_into(value, widened);
            for (head, context) in context.chunks_exact_mut(head_dim).enumerate() {
                let weight = weights[head * padded + pos];
                for (context, value) in context.iter_mut().zip(&*widened) {
                    *context += weight * value;
                }
            }
        }
    }
}

fn widen_into(from: &[bf16], to: &mut Vec<f32>) {
    to.clear();
    to.extend(from.iter().map(|value| widen(*value)));
}

/// Computes the products of a query with the keys of a tile, `[head_dim, TILE]`.
fn score_tile(query: &[f32], keys: &[f32]) -> [f32; TILE] {
    let mut scores = [0.0; TILE];
    for (q, keys) in query.iter().zip(keys.as_chunks::<TILE>().0) {
        for lane in 0..TILE {
            scores[lane] += q * keys[lane];
        }
    }
    scores
}

/// Turns scores into weights that sum to one. If one score is NaN, all weights
/// are NaN.
fn softmax(scores: &mut [f32]) {
    let max = fold(scores, f32::NEG_INFINITY, |max, score| if score > max { score } else { max });
    for score in &mut *scores {
        *score = (*score - max).exp();
    }
    let scale = 1.0 / fold(scores, 0.0, |sum, weight| sum + weight);
    for score in scores {
        *score *= scale;
    }
}

/// Folds values in [`TILE`] lanes side by side, and then folds the lanes.
fn fold(values: &[f32], start: f32, step: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; TILE];
    let (tiles, rest) = values.as_chunks::<TILE>();
    for tile in tiles {
        for lane in 0..TILE {
            lanes[lane] = step(lanes[lane], tile[lane]);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(start, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f32]) -> Vec<bf16> {
        values.iter().map(|value| bf16::from_f32(*value)).collect()
    }

    fn layer(width: usize, keys: &[f32], values: &[f32]) -> LayerCache {
        let mut layer = LayerCache::new(width);
        layer.append(&row(keys), &row(values));
        layer
    }

    #[test]
    fn a_query_takes_the_value_of_the_key_that_it_matches() {
        // Two query heads of width 1 share one key head.
        let mut attention = HostAttention::new(2, 1, 1);
        let layer = layer(1, &[100.0, -100.0], &[7.0, 9.0]);
        let mut out = row(&[0.0; 2]);
        attention.attend(&row(&[1.0, -1.0]), &layer, &mut out);
        assert_eq!(out, row(&[7.0, 9.0]));
    }

    #[test]
    fn equal_scores_average_the_values_seen_so_far() {
        let attention = HostAttention::new(1, 1, 1);
        let layer = layer(1, &[1.0; 2], &[1.0, 3.0]);
        let mut out = row(&[0.0; 3]);
        attention.causal(&row(&[0.0; 3]), &layer, &mut out);
        assert_eq!(out, row(&[1.0, 2.0, 0.0]));
    }

    #[test]
    fn key_heads_serve_neighbouring_query_heads() {
        let mut attention = HostAttention::new(4, 2, 1);
        let layer = layer(2, &[1.0, 1.0], &[5.0, 6.0]);
        let mut out = row(&[0.0; 4]);
        attention.attend(&row(&[1.0; 4]), &layer, &mut out);
        assert_eq!(out, row(&[5.0, 5.0, 6.0, 6.0]));
    }

    #[test]
    fn positions_after_the_first_tile_are_seen() {
        let mut attention = HostAttention::new(1, 1, 1);
        let mut keys = [0.0; TILE + 3];
        keys[TILE + 1] = 100.0;
        let values: Vec<f32> = (0..keys.len()).map(|pos| pos as f32).collect();
        let mut out = row(&[0.0]);
        attention.attend(&row(&[1.0]), &layer(1, &keys, &values), &mut out);
        assert_eq!(out, row(&[TILE as f32 + 1.0]));
    }

    #[test]
    fn a_score_that_is_not_finite_shows_in_the_context() {
        let mut attention = HostAttention::new(1, 1, 1);
        let mut out = row(&[0.0]);
        attention.attend(&row(&[1.0]), &layer(1, &[f32::NAN], &[1.0]), &mut out);
        assert!(out[0].is_nan());
    }
}

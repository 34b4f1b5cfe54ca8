//! The bf16 online softmax of [`Tile::ROWS`] queries.

use std::ops::Range;

use half::bf16;

use crate::{
    datapath::{
        exponential::{Exponential, LOWEST},
        functions::Reciprocal,
        lanes::reduce,
        pack::pack_rows,
        tile::{LeftPair, Tile},
        vector::Simd,
    },
    rounding::{Rounding, widen},
};

/// Largest head dimension.
pub(super) const MAX_HEAD_DIM: usize = 256;
/// Keys of a chunk.
pub(super) const CHUNK: usize = 64;
/// Panels of [`Tile::COLS`] columns in the widest output.
const PANELS: usize = MAX_HEAD_DIM / Tile::COLS;

/// What a cascade stage carries from chunk to chunk, each value exact in bf16.
#[derive(Clone)]
pub(super) struct Accumulator {
    /// Output so far, not yet divided by the denominator: panels of [`Tile::COLS`] columns.
    o: [Tile; PANELS],
    panels: usize,
    /// Largest score so far.
    max: [f32; Tile::ROWS],
    /// Denominator so far.
    sum: [f32; Tile::ROWS],
}

impl Accumulator {
    #[inline(always)]
    pub(super) fn new(head_dim: usize) -> Self {
        Self {
            o: [Tile::ZERO; PANELS],
            panels: head_dim / Tile::COLS,
            max: [LOWEST; Tile::ROWS],
            sum: [0.0; Tile::ROWS],
        }
    }

    #[inline(always)]
    pub(super) fn o_mut(&mut self) -> &mut [Tile] {
        &mut self.o[..self.panels]
    }

    /// Takes in the scores of a chunk, of which row `r` sees those in `visible(r)`: new maximum,
    /// output and denominator rescaled. Returns the probabilities, quantised and packed for their
    /// product with the values.
    #[inline(always)]
    pub(super) fn update<S: Simd>(
        &mut self,
        simd: S,
        scores: &[Tile; CHUNK / Tile::COLS],
        visible: impl Fn(usize) -> Range<usize>,
        exp: &Exponential,
        rounding: Rounding,
    ) -> [LeftPair; CHUNK / 2] {
        let mut p = [[bf16::ZERO; CHUNK]; Tile::ROWS];
        for (row, p) in p.iter_mut().enumerate() {
            let mut scores = row_of(scores, row);
            let Range { start, end } = visible(row);
            scores[..start].fill(f32::NEG_INFINITY);
            scores[end..].fill(f32::NEG_INFINITY);
            let max = largest(&scores).max(self.max[row]);
            for score in &mut scores {
                *score -= max;
            }
            rounding.narrow_slice(&scores, p);
            for p in p.iter_mut() {
                *p = exp.get(*p);
            }
            let factor = exp.eval(rounding.narrow(self.max[row] - max));
            let round = |x| widen(rounding.narrow(x));
            self.max[row] = max;
            self.sum[row] = round(self.sum[row] * factor + round(sum(&p.map(widen))));
            for panel in &mut self.o[..self.panels] {
                for o in &mut panel.0[row] {
                    *o *= factor;
                }
                rounding.round_slice(&mut panel.0[row]);
            }
        }
        let mut pairs = [LeftPair::default(); CHUNK / 2];
        pack_rows(simd, rounding, p.as_flattened(), CHUNK, &mut pairs);
        pairs
    }

    /// Takes in the result of an earlier stage.
    #[inline(always)]
    pub(super) fn merge(&mut self, earlier: &Self, exp: &Exponential, rounding: Rounding) {
        let round = |x| widen(rounding.narrow(x));
        for row in 0..Tile::ROWS {
            let max = self.max[row].max(earlier.max[row]);
            let own = exp.eval(rounding.narrow(self.max[row] - max));
            let other = exp.eval(rounding.narrow(earlier.max[row] - max));
            for (panel, earlier) in self.o[..self.panels].iter_mut().zip(&earlier.o) {
                for (o, &earlier) in panel.0[row].iter_mut().zip(&earlier.0[row]) {
                    *o = round(round(earlier * other) + round(*o * own));
                }
            }
            self.sum[row] = round(earlier.sum[row] * other + round(self.sum[row] * own));
            self.max[row] = max;
        }
    }

    /// Divides row `row` by its denominator.
    #[inline(always)]
    pub(super) fn finish(
        &self,
        row: usize,
        reciprocal: &Reciprocal,
        rounding: Rounding,
        out: &mut [bf16],
    ) {
        let inverse = widen(reciprocal.eval(self.sum[row], rounding));
        for (out, panel) in out.chunks_exact_mut(Tile::COLS).zip(&self.o) {
            for (out, o) in out.iter_mut().zip(&panel.0[row]) {
                *out = rounding.narrow(o * inverse);
            }
        }
    }
}

/// The scores of one query.
#[inline(always)]
fn row_of(scores: &[Tile; CHUNK / Tile::COLS], row: usize) -> [f32; CHUNK] {
    let mut all = [0.0; CHUNK];
    for (part, panel) in all.chunks_exact_mut(Tile::COLS).zip(scores) {
        part.copy_from_slice(&panel.0[row]);
    }
    all
}

/// The largest of a row. A NaN is passed over here and comes back through its probability.
#[inline(always)]
fn largest(row: &[f32; CHUNK]) -> f32 {
    reduce(row, f32::NEG_INFINITY, f32::max)
}

/// Four values a lane, then by halves: one order on all vector units.
#[inline(always)]
fn sum(row: &[f32; CHUNK]) -> f32 {
    reduce(row, 0.0, |a, b| a + b)
}

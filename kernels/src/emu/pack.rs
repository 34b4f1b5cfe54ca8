//! Quantising matrices to BFP16 along K and packing them for [`Simd::multiply`](super::vector::Simd).

use half::bf16;
use rayon::prelude::*;

use super::{
    bfp16::{BLOCK, quantise},
    tile::{LeftPair, RightPair, Tile},
    vector::{Simd, Task, VectorUnit},
};
use crate::{Rounding, rounding::widen};

/// Pairs of K in a block.
pub(crate) const BLOCK_PAIRS: usize = BLOCK / 2;

/// Quantises `W` blocks, `value(k, w)` being value `k` of block `w`, and packs neighbours along K.
#[inline(always)]
pub(crate) fn pack_block<const W: usize>(
    rounding: Rounding,
    value: impl Fn(usize, usize) -> f32,
) -> [[u32; W]; BLOCK_PAIRS] {
    let mut x = [[0.0; W]; BLOCK];
    for (k, row) in x.iter_mut().enumerate() {
        for (w, v) in row.iter_mut().enumerate() {
            *v = value(k, w);
        }
    }
    quantise(&mut x, rounding);
    let mut pairs = [[0; W]; BLOCK_PAIRS];
    for (p, pair) in pairs.iter_mut().enumerate() {
        for (w, pair) in pair.iter_mut().enumerate() {
            // Quantised values are exact in bf16: their lower halves are zero.
            *pair = (x[2 * p + 1][w].to_bits() & 0xFFFF_0000) | (x[2 * p][w].to_bits() >> 16);
        }
    }
    pairs
}

/// Packs up to [`Tile::ROWS`] rows of a row-major matrix, `width` apart, `2 * pairs.len()` values from each; missing
/// rows are zero.
#[inline(always)]
pub(crate) fn pack_rows(rounding: Rounding, rows: &[bf16], width: usize, pairs: &mut [LeftPair]) {
    let count = rows.len().div_ceil(width).min(Tile::ROWS);
    for (block, pairs) in pairs.chunks_exact_mut(BLOCK_PAIRS).enumerate() {
        let mut values = [[bf16::ZERO; BLOCK]; Tile::ROWS];
        for (row, values) in values[..count].iter_mut().enumerate() {
            values.copy_from_slice(&rows[row * width + block * BLOCK..][..BLOCK]);
        }
        let packed = pack_block::<{ Tile::ROWS }>(rounding, |k, row| widen(values[row][k]));
        for (pair, packed) in pairs.iter_mut().zip(packed) {
            *pair = LeftPair(packed);
        }
    }
}

/// A right matrix `[k, n]`, quantised and packed: panels of [`Tile::COLS`] columns, each all of K.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    pairs: Vec<RightPair>,
    /// Pairs of K in a panel.
    depth: usize,
}

impl Panels {
    /// Quantises and packs the row-major `values[k, n]`, reusing this one's memory.
    pub(crate) fn pack(&mut self, unit: VectorUnit, rounding: Rounding, values: &[bf16], n: usize) {
        self.depth = values.len() / n / 2;
        self.pairs.resize(n.div_ceil(Tile::COLS) * self.depth, RightPair::ZERO);
        let depth = self.depth;
        self.pairs.par_chunks_mut(depth).enumerate().for_each(|(panel, pairs)| {
            unit.run(PackPanel { rounding, values, n, first: panel * Tile::COLS, pairs });
        });
    }

    /// The panels, in order of columns.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[RightPair]> {
        self.pairs.chunks_exact(self.depth)
    }
}

struct PackPanel<'a> {
    rounding: Rounding,
    values: &'a [bf16],
    n: usize,
    first: usize,
    pairs: &'a mut [RightPair],
}

impl Task for PackPanel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let cols = Tile::COLS.min(self.n - self.first);
        for (block, pairs) in self.pairs.chunks_exact_mut(BLOCK_PAIRS).enumerate() {
            let mut values = [[bf16::ZERO; Tile::COLS]; BLOCK];
            for (k, values) in values.iter_mut().enumerate() {
                let row = (block * BLOCK + k) * self.n + self.first;
                values[..cols].copy_from_slice(&self.values[row..row + cols]);
            }
            let packed =
                pack_block::<{ Tile::COLS }>(self.rounding, |k, col| widen(values[k][col]));
            for (pair, packed) in pairs.iter_mut().zip(packed) {
                *pair = RightPair(packed);
            }
        }
    }
}

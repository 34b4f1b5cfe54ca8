//! Quantising matrices to BFP16 along K and packing them for
//! [`Simd::multiply`](super::vector::Simd).

use half::bf16;
use rayon::prelude::*;

use super::{
    bfp16::{BLOCK, PAIRS, quantise},
    tile::{LeftPair, RightPair, Tile},
    vector::{Simd, Task, VectorUnit},
};
use crate::Rounding;

/// Two neighbours along K in one word, the first in the lower half.
#[inline(always)]
fn join(even: bf16, odd: bf16) -> u32 {
    u32::from(even.to_bits()) | (u32::from(odd.to_bits()) << 16)
}

/// Packs up to [`Tile::ROWS`] rows of a row-major matrix, `width` apart, `2 * pairs.len()` values
/// along K from each; missing rows are zero.
#[inline(always)]
pub(crate) fn pack_rows<S: Simd>(
    simd: S,
    rounding: Rounding,
    rows: &[bf16],
    width: usize,
    pairs: &mut [LeftPair],
) {
    let count = rows.len().div_ceil(width).min(Tile::ROWS);
    for (index, pairs) in pairs.chunks_mut(GROUP * PAIRS).enumerate() {
        // Block `b` of row `r` is column `b * ROWS + r`.
        let mut words = [[0; GROUP * Tile::ROWS]; PAIRS];
        for (two, pairs) in pairs.chunks(2 * PAIRS).enumerate() {
            let at = (index * GROUP + two * 2) * BLOCK;
            let mut square = [[0; 2 * PAIRS]; Tile::ROWS];
            for (row, words) in square[..count].iter_mut().enumerate() {
                read_pairs(&rows[row * width + at..][..2 * pairs.len()], words);
            }
            simd.transpose(&mut square);
            for (i, column) in square.iter().enumerate() {
                let at = (two * 2 + i / PAIRS) * Tile::ROWS;
                words[i % PAIRS][at..at + Tile::ROWS].copy_from_slice(column);
            }
        }
        quantise(&mut words, rounding);
        for (i, pair) in pairs.iter_mut().enumerate() {
            let at = i / PAIRS * Tile::ROWS;
            pair.0.copy_from_slice(&words[i % PAIRS][at..at + Tile::ROWS]);
        }
    }
}

/// Blocks of K that are quantised at once: the compiler vectorises wide loops and not narrow ones.
const GROUP: usize = 8;

/// Two blocks, or one and zeros.
#[inline(always)]
fn read_pairs(values: &[bf16], words: &mut [u32; 2 * PAIRS]) {
    let mut padded = [bf16::ZERO; 2 * BLOCK];
    if values.len() == 2 * BLOCK {
        padded.copy_from_slice(values);
    } else {
        padded[..BLOCK].copy_from_slice(&values[..BLOCK]);
    }
    for (word, pair) in words.iter_mut().zip(padded.as_chunks::<2>().0) {
        *word = join(pair[0], pair[1]);
    }
}

/// Packs up to [`Tile::COLS`] columns of a row-major matrix, rows `width` apart, `2 * pairs.len()`
/// values along K from each; missing columns are zero.
#[inline(always)]
pub(crate) fn pack_columns(
    rounding: Rounding,
    rows: &[bf16],
    width: usize,
    cols: usize,
    pairs: &mut [RightPair],
) {
    for (block, pairs) in pairs.as_chunks_mut::<PAIRS>().0.iter_mut().enumerate() {
        let mut values = [[bf16::ZERO; Tile::COLS]; BLOCK];
        for (k, values) in values.iter_mut().enumerate() {
            let at = (block * BLOCK + k) * width;
            values[..cols].copy_from_slice(&rows[at..at + cols]);
        }
        let mut words = [[0; Tile::COLS]; PAIRS];
        for (words, values) in words.iter_mut().zip(values.as_chunks::<2>().0) {
            for col in 0..Tile::COLS {
                words[col] = join(values[0][col], values[1][col]);
            }
        }
        quantise(&mut words, rounding);
        *pairs = words.map(RightPair);
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
        pack_columns(self.rounding, &self.values[self.first..], self.n, cols, self.pairs);
    }
}

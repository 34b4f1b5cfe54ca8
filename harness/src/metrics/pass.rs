//! The single pass over a device tensor and its reference, from which every figure is
//! computed.
//!
//! How a tensor is cut into blocks depends only on its shape. Each block is summed in
//! lanes, and the blocks are added in order. The number of threads does not affect the
//! result.

mod block;
mod chunk;

use super::sums::Sums;
use crate::Tolerance;
use block::Block;
use std::{panic, thread};

/// The elements of a piece, if rows do not matter.
const PIECE: usize = 4096;

/// The number of blocks into which a tensor is cut: a power of two, more than most
/// machines have cores.
const BLOCKS: usize = 16;

/// A thread with fewer elements than this is not worth starting.
const THREAD_ELEMENTS: usize = 1 << 17;

/// Which parts of a `[rows, width]` tensor have sums of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    /// None: only the whole tensor.
    Whole,
    /// Every row.
    Rows,
    /// Every column.
    Columns,
    /// Every row and every column.
    RowsAndColumns,
}

impl Cut {
    fn rows(self) -> bool {
        matches!(self, Self::Rows | Self::RowsAndColumns)
    }

    fn columns(self) -> bool {
        matches!(self, Self::Columns | Self::RowsAndColumns)
    }

    /// The parts of both.
    pub fn and(self, other: Self) -> Self {
        match (self.rows() || other.rows(), self.columns() || other.columns()) {
            (false, false) => Self::Whole,
            (true, false) => Self::Rows,
            (false, true) => Self::Columns,
            (true, true) => Self::RowsAndColumns,
        }
    }
}

/// What a pass compares.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a, S> {
    /// The device's values.
    pub y: &'a [f32],
    /// The reference's values, of the same number.
    pub r: &'a [f32],
    /// Length of a row.
    pub width: usize,
    /// Rounds a value of the reference as the device would store it at best. Errors of
    /// elements are taken against the result, sums and their slices against the reference
    /// itself.
    pub store: S,
    /// How far an element may be off.
    pub tolerance: Tolerance,
}

/// What a pass finds.
#[derive(Clone, Default)]
pub(super) struct Found {
    pub sums: Sums,
    /// Sum of errors, with their sign.
    pub error: f64,
    /// Sum of absolute errors against the stored reference.
    pub abs: f64,
    /// Sum of relative errors against the stored reference.
    pub rel: f64,
    /// Sum of absolute values of the stored reference.
    pub stored: f64,
    pub max_abs: f64,
    /// Index of the first element with that error.
    pub max_abs_index: usize,
    pub max_rel: f64,
    /// Elements outside of the tolerance.
    pub mismatches: usize,
    /// By row, if the cut has rows.
    pub rows: Vec<Sums>,
    /// By column, if the cut has columns.
    pub columns: Vec<Sums>,
}

impl Found {
    /// Whether every value that was read is finite. Squares of f32 values cannot
    /// overflow f64, and neither can a sum of them.
    pub fn is_finite(&self) -> bool {
        self.sums.yy.is_finite() && self.sums.rr.is_finite() && self.stored.is_finite()
    }

    /// Adds the block that follows.
    fn and(mut self, next: Self) -> Self {
        self.sums += next.sums;
        self.error += next.error;
        self.abs += next.abs;
        self.rel += next.rel;
        self.stored += next.stored;
        // The first one wins a tie.
        if next.max_abs > self.max_abs {
            (self.max_abs, self.max_abs_index) = (next.max_abs, next.max_abs_index);
        }
        self.max_rel = self.max_rel.max(next.max_rel);
        self.mismatches += next.mismatches;
        self.rows.extend(next.rows);
        if self.columns.is_empty() {
            self.columns = next.columns;
        } else {
            for (column, next) in self.columns.iter_mut().zip(next.columns) {
                *column += next;
            }
        }
        self
    }
}

/// Runs the pass.
pub(super) fn pass<S>(pair: &Pair<'_, S>, cut: Cut) -> Found
where
    S: Fn(f32) -> f32 + Copy + Sync,
{
    let piece = if cut == Cut::Whole { PIECE } else { pair.width.max(1) };
    let pieces = pair.y.len().div_ceil(piece);
    let block = pieces.div_ceil(BLOCKS).max(1) * piece;
    let starts: Vec<usize> = (0..pair.y.len()).step_by(block).collect();
    let of_block = |&start: &usize| {
        let end = (start + block).min(pair.y.len());
        Block::new(cut, piece).run(pair, start..end)
    };
    let available = thread::available_parallelism().map_or(1, usize::from);
    let threads = available.min(pair.y.len() / THREAD_ELEMENTS).min(starts.len());
    if threads < 2 {
        return starts.iter().map(of_block).fold(Found::default(), Found::and);
    }
    let each = starts.len().div_ceil(threads);
    thread::scope(|scope| {
        let workers: Vec<_> = starts
            .chunks(each)
            .map(|starts| scope.spawn(move || starts.iter().map(of_block).collect::<Vec<_>>()))
            .collect();
        let blocks = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        blocks.fold(Found::default(), Found::and)
    })
}

#[cfg(test)]
mod tests;

//! The figures of one block of a tensor.

use super::chunk::{CHUNK, Chunk, add, add_each, each, larger, raise, widened};
use super::{Cut, Found, Pair};
use crate::Tolerance;
use crate::metrics::sums::{Lanes, SumLanes, Sums, total};
use std::ops::Range;

/// The smallest magnitude against which relative errors of an element are taken, as in
/// MLIR-AIR's runner, so that a zero in the reference does not make them infinite.
const RELATIVE_FLOOR: f64 = 1e-6;

/// A block that is being summed.
pub(super) struct Block {
    cut: Cut,
    /// The elements of a piece, which is a row if rows matter.
    piece: usize,
    /// The figures that are not summed in lanes.
    found: Found,
    sums: SumLanes,
    error: Lanes,
    abs: Lanes,
    rel: Lanes,
    stored: Lanes,
    max_rel: Lanes,
    columns: Columns,
}

/// The sums of the columns, one vector for each kind, so that neighbours in memory are
/// added in the same way.
#[derive(Default)]
struct Columns {
    yy: Vec<f64>,
    rr: Vec<f64>,
    yr: Vec<f64>,
    ee: Vec<f64>,
}

impl Columns {
    fn new(columns: usize) -> Self {
        let zeros = || vec![0.0; columns];
        Self { yy: zeros(), rr: zeros(), yr: zeros(), ee: zeros() }
    }

    fn sums(self) -> Vec<Sums> {
        let Self { yy, rr, yr, ee } = self;
        let columns = yy.into_iter().zip(rr).zip(yr.into_iter().zip(ee));
        columns.map(|((yy, rr), (yr, ee))| Sums { yy, rr, yr, ee }).collect()
    }
}

impl Block {
    pub fn new(cut: Cut, piece: usize) -> Self {
        Self {
            cut,
            piece,
            found: Found::default(),
            sums: SumLanes::default(),
            error: Lanes::default(),
            abs: Lanes::default(),
            rel: Lanes::default(),
            stored: Lanes::default(),
            max_rel: Lanes::default(),
            columns: Columns::new(if cut.columns() { piece } else { 0 }),
        }
    }

    /// Computes the figures of a range of whole pieces; the last piece may be shorter if
    /// rows do not matter.
    pub fn run<S: Fn(f32) -> f32>(mut self, pair: &Pair<'_, S>, range: Range<usize>) -> Found {
        for start in range.clone().step_by(self.piece) {
            let end = (start + self.piece).min(range.end);
            for at in (start..end).step_by(CHUNK) {
                self.add(pair, at..(at + CHUNK).min(end), at - start);
            }
            let sums = std::mem::take(&mut self.sums).total();
            self.found.sums += sums;
            if self.cut.rows() {
                self.found.rows.push(sums);
            }
        }
        Found {
            error: total(&self.error),
            abs: total(&self.abs),
            rel: total(&self.rel),
            stored: total(&self.stored),
            max_rel: self.max_rel.into_iter().fold(0.0, larger),
            columns: self.columns.sums(),
            ..self.found
        }
    }

    /// Adds at most a chunk of elements, the first of them in a column.
    fn add<S: Fn(f32) -> f32>(&mut self, pair: &Pair<'_, S>, range: Range<usize>, column: usize) {
        let y = widened(&pair.y[range.clone()], |y| y);
        let r = widened(&pair.r[range.clone()], |r| r);
        let stored = widened(&pair.r[range.clone()], &pair.store);
        self.add_products(&y, &r, column..column + range.len());
        self.add_errors(&y, &stored, pair.tolerance, range);
    }

    fn add_products(&mut self, y: &Chunk, r: &Chunk, columns: Range<usize>) {
        let error = each(|i| y[i] - r[i]);
        add(&mut self.error, &error);
        let (sums, by_column) = (&mut self.sums, &mut self.columns);
        for (product, sum, by_column) in [
            (each(|i| y[i] * y[i]), &mut sums.yy, &mut by_column.yy),
            (each(|i| r[i] * r[i]), &mut sums.rr, &mut by_column.rr),
            (each(|i| y[i] * r[i]), &mut sums.yr, &mut by_column.yr),
            (each(|i| error[i] * error[i]), &mut sums.ee, &mut by_column.ee),
        ] {
            add(sum, &product);
            if self.cut.columns() {
                add_each(&mut by_column[columns.clone()], &product);
            }
        }
    }

    fn add_errors(&mut self, y: &Chunk, stored: &Chunk, tolerance: Tolerance, at: Range<usize>) {
        let abs = each(|i| (y[i] - stored[i]).abs());
        let size = each(|i| stored[i].abs());
        let rel = each(|i| abs[i] / larger(size[i], RELATIVE_FLOOR));
        add(&mut self.abs, &abs);
        add(&mut self.rel, &rel);
        add(&mut self.stored, &size);
        raise(&mut self.max_rel, &rel);
        // This goes over whole chunks, so that it is vectorised: the zeros after the last
        // element are never outside.
        let outside = |(abs, size): (&f64, &f64)| u64::from(!tolerance.allows(*abs, *size));
        self.found.mismatches += abs.iter().zip(&size).map(outside).sum::<u64>() as usize;
        let mut largest = Lanes::default();
        raise(&mut largest, &abs);
        let largest = largest.into_iter().fold(0.0, larger);
        if largest > self.found.max_abs {
            let place = abs.iter().position(|&abs| abs >= largest);
            self.found.max_abs = largest;
            self.found.max_abs_index = at.start + place.unwrap_or_default();
        }
    }
}

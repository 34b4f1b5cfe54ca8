//! `LayerNorm`: mean, difference, reciprocal root and their product each narrowed, sums in f32, the
//! weight's product and the bias in one f32 accumulator.

use half::bf16;
use rayon::prelude::*;

use super::{
    super::{functions::Rsqrt, vector::VectorUnit},
    PIECE, SERIAL,
    by_rounding::task_by_rounding,
    lanes::sum_by,
};
use crate::{LayerNorm, Rounding, rounding::widen};

/// `y = (x - mean) / deviation * w + b` for each row, `wb` being the weight and then the bias.
pub(in super::super) fn run(
    unit: VectorUnit,
    norm: LayerNorm,
    rounding: Rounding,
    rsqrt: &Rsqrt,
    (x, wb): (&[bf16], &[bf16]),
    y: &mut [bf16],
) {
    if y.len() <= SERIAL {
        return unit.run(Rows { norm, rounding, rsqrt, x, wb, y });
    }
    let piece = (PIECE / norm.cols).max(1) * norm.cols;
    let pieces = y.par_chunks_mut(piece).zip(x.par_chunks(piece));
    pieces.for_each(|(y, x)| unit.run(Rows { norm, rounding, rsqrt, x, wb, y }));
}

struct Rows<'a> {
    norm: LayerNorm,
    rounding: Rounding,
    rsqrt: &'a Rsqrt,
    x: &'a [bf16],
    wb: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Rows);

impl Rows<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        let LayerNorm { cols, eps, .. } = self.norm;
        let (w, b) = self.wb.split_at(cols);
        for (y, x) in self.y.chunks_exact_mut(cols).zip(self.x.chunks_exact(cols)) {
            let mean = widen(narrow(sum_by(x, |x| x) / cols as f32));
            // The differences wait in the output for their product.
            for (d, &x) in y.iter_mut().zip(x) {
                *d = narrow(widen(x) - mean);
            }
            let variance = sum_by(y, |d| d * d) / cols as f32;
            let scale = widen(narrow(self.rsqrt.eval(variance + eps)));
            for (y, (&w, &b)) in y.iter_mut().zip(w.iter().zip(b)) {
                let normed = widen(narrow(widen(*y) * scale));
                *y = narrow(normed * widen(w) + widen(b));
            }
        }
    }
}

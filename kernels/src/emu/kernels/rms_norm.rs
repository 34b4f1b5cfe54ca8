//! `RMSNorm`: f32 squares in 16 lanes, the reciprocal root narrowed, then two narrowed products.

use half::bf16;
use rayon::prelude::*;

use super::{
    super::vector::VectorUnit, PIECE, SERIAL, by_rounding::task_by_rounding, lanes::sum_by,
};
use crate::{RmsNorm, Rounding, rounding::widen};

/// `y = x / rms(x) * w` for each row.
pub(in super::super) fn run(
    unit: VectorUnit,
    norm: RmsNorm,
    rounding: Rounding,
    x: &[bf16],
    w: &[bf16],
    y: &mut [bf16],
) {
    if y.len() <= SERIAL {
        return unit.run(Rows { norm, rounding, x, w, y });
    }
    let piece = (PIECE / norm.cols).max(1) * norm.cols;
    let pieces = y.par_chunks_mut(piece).zip(x.par_chunks(piece));
    pieces.for_each(|(y, x)| unit.run(Rows { norm, rounding, x, w, y }));
}

struct Rows<'a> {
    norm: RmsNorm,
    rounding: Rounding,
    x: &'a [bf16],
    w: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Rows);

impl Rows<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        let RmsNorm { cols, eps, .. } = self.norm;
        for (y, x) in self.y.chunks_exact_mut(cols).zip(self.x.chunks_exact(cols)) {
            let mean = sum_by(x, |x| x * x) / cols as f32;
            // The hardware's scalar reciprocal square root is taken to be exact: the published
            // figures leave room for a relative error of 1e-4.
            let scale = widen(narrow(1.0 / (mean + eps).sqrt()));
            for ((y, &x), &w) in y.iter_mut().zip(x).zip(self.w) {
                *y = narrow(widen(narrow(widen(x) * scale)) * widen(w));
            }
        }
    }
}

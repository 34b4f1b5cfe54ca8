//! `RMSNorm`: f32 squares in 16 lanes, the reciprocal root narrowed, then two narrowed products.

use half::bf16;
use rayon::prelude::*;

use super::{
    super::{functions::Rsqrt, vector::VectorUnit},
    PIECE, SERIAL,
    by_rounding::task_by_rounding,
    lanes::sum_by,
};
use crate::{RmsNorm, Rounding, rounding::widen};

/// `y = x / rms(x) * w` for each row.
pub(in super::super) fn run(
    unit: VectorUnit,
    norm: RmsNorm,
    rounding: Rounding,
    rsqrt: &Rsqrt,
    (x, w): (&[bf16], &[bf16]),
    y: &mut [bf16],
) {
    if y.len() <= SERIAL {
        return unit.run(Rows { norm, rounding, rsqrt, x, w, y });
    }
    let piece = (PIECE / norm.cols).max(1) * norm.cols;
    let pieces = y.par_chunks_mut(piece).zip(x.par_chunks(piece));
    pieces.for_each(|(y, x)| unit.run(Rows { norm, rounding, rsqrt, x, w, y }));
}

struct Rows<'a> {
    norm: RmsNorm,
    rounding: Rounding,
    rsqrt: &'a Rsqrt,
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
            let scale = widen(narrow(self.rsqrt.eval(mean + eps)));
            for ((y, &x), &w) in y.iter_mut().zip(x).zip(self.w) {
                *y = narrow(widen(narrow(widen(x) * scale)) * widen(w));
            }
        }
    }
}

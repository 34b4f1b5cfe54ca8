//! Softmax of rows. *Derived*, not measured: the registry publishes no figure of this kernel. It is
//! FlashAttention's softmax of one row: the maximum, the difference narrowed, `exp2` of its product
//! with `bf16(log2 e)`, a sum in f32 narrowed once, the bf16 reciprocal and the product narrowed.

use half::bf16;
use rayon::prelude::*;

use super::{
    super::{functions::Exp2, vector::VectorUnit},
    PIECE, SERIAL,
    by_rounding::task_by_rounding,
    exponential::{Exponential, LOWEST, SoftmaxFunctions},
    lanes::{max, sum_by},
};
use crate::{Rounding, Softmax, rounding::widen};

/// The kernel's exponential: `exp2(c d)` with `c = bf16(log2 e)`.
pub(in super::super) fn exponential(exp2: &Exp2) -> Exponential {
    Exponential::new(exp2, bf16::from_f32(std::f32::consts::LOG2_E))
}

/// `y = softmax(x)` for each row.
pub(in super::super) fn run(
    unit: VectorUnit,
    softmax: Softmax,
    rounding: Rounding,
    functions: &SoftmaxFunctions,
    x: &[bf16],
    y: &mut [bf16],
) {
    let cols = softmax.cols;
    if y.len() <= SERIAL {
        return unit.run(Rows { cols, rounding, functions, x, y });
    }
    let piece = (PIECE / cols).max(1) * cols;
    let pieces = y.par_chunks_mut(piece).zip(x.par_chunks(piece));
    pieces.for_each(|(y, x)| unit.run(Rows { cols, rounding, functions, x, y }));
}

struct Rows<'a> {
    cols: usize,
    rounding: Rounding,
    functions: &'a SoftmaxFunctions,
    x: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Rows);

impl Rows<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        let SoftmaxFunctions { exp, reciprocal } = self.functions;
        for (y, x) in self.y.chunks_exact_mut(self.cols).zip(self.x.chunks_exact(self.cols)) {
            // A NaN is passed over here and comes back through its probability.
            let max = max(x).max(LOWEST);
            for (p, &x) in y.iter_mut().zip(x) {
                *p = narrow(widen(x) - max);
            }
            for p in y.iter_mut() {
                *p = exp.get(*p);
            }
            let sum = widen(narrow(sum_by(y, |p| p)));
            let inverse = widen(reciprocal.eval(sum, self.rounding));
            for p in y.iter_mut() {
                *p = narrow(widen(*p) * inverse);
            }
        }
    }
}

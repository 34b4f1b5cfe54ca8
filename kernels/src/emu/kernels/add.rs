//! Element-wise add: an f32 sum, narrowed once.

use half::bf16;
use rayon::prelude::*;

use super::{super::vector::VectorUnit, PIECE, SERIAL, by_rounding::task_by_rounding};
use crate::{Rounding, rounding::widen};

/// `out = a + b`.
pub(in super::super) fn run(
    unit: VectorUnit,
    rounding: Rounding,
    a: &[bf16],
    b: &[bf16],
    out: &mut [bf16],
) {
    if out.len() <= SERIAL {
        return unit.run(Piece { rounding, a, b, out });
    }
    let pieces = out.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE).zip(b.par_chunks(PIECE)));
    pieces.for_each(|(out, (a, b))| unit.run(Piece { rounding, a, b, out }));
}

struct Piece<'a> {
    rounding: Rounding,
    a: &'a [bf16],
    b: &'a [bf16],
    out: &'a mut [bf16],
}

task_by_rounding!(Piece);

impl Piece<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        for ((out, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = narrow(widen(a) + widen(b));
        }
    }
}

//! GEMV: 64 f32 lanes along K, folded by halves, narrowed once. No BFP16.

use half::bf16;
use rayon::prelude::*;

use super::super::vector::{Simd, Task, VectorUnit};
use crate::{Gemv, Rounding, rounding::widen};

/// Accumulator lanes of the kernel.
const LANES: usize = 64;
/// Weights below which one thread is as fast as several.
const SERIAL: usize = 1 << 17;
/// Weights of a piece: large enough to be worth scheduling, small enough to balance.
const PIECE: usize = 1 << 16;

/// `y[m] = a[m, k] x[k]`; `wide` is room for x in f32.
pub(in super::super) fn run(
    unit: VectorUnit,
    gemv: Gemv,
    rounding: Rounding,
    (a, x): (&[bf16], &[bf16]),
    wide: &mut Vec<f32>,
    y: &mut [bf16],
) {
    wide.clear();
    wide.extend(x.iter().map(|&x| widen(x)));
    let x = wide.as_slice();
    if a.len() <= SERIAL {
        return unit.run(Rows { rounding, a, x, y });
    }
    let rows = (PIECE / gemv.k).max(1);
    let pieces = y.par_chunks_mut(rows).zip(a.par_chunks(rows * gemv.k));
    pieces.for_each(|(y, a)| unit.run(Rows { rounding, a, x, y }));
}

struct Rows<'a> {
    rounding: Rounding,
    a: &'a [bf16],
    x: &'a [f32],
    y: &'a mut [bf16],
}

impl Task for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (y, a) in self.y.iter_mut().zip(self.a.chunks_exact(self.x.len())) {
            *y = self.rounding.narrow(dot(a, self.x));
        }
    }
}

/// The order of summation is fixed, and the products are exact in f32: the same bits everywhere.
#[inline(always)]
fn dot(a: &[bf16], x: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for (a, x) in a.as_chunks::<LANES>().0.iter().zip(x.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            lanes[lane] += widen(a[lane]) * x[lane];
        }
    }
    for width in [32, 16, 8, 4, 2, 1] {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
    }
    lanes[0]
}

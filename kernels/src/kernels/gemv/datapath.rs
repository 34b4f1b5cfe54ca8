//! 64 f32 lanes along K, folded by halves, narrowed once. No BFP16.

use half::bf16;
use rayon::prelude::*;

use crate::{
    datapath::{
        Datapath, Operands, Output, Scratch, Unwritten,
        vector::{LANES, Simd, Task, VectorUnit},
    },
    rounding::{Rounding, widen},
};

/// `y[m] = a[m, k] x[k]`.
pub(super) struct Dots {
    pub(super) k: usize,
    pub(super) rounding: Rounding,
}

/// Weights below which one thread is as fast as several.
const SERIAL: usize = 1 << 17;
/// Weights of a piece: large enough to be worth scheduling, small enough to balance.
const PIECE: usize = 1 << 16;

impl Datapath for Dots {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        scratch: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { k, rounding } = self;
        let [a, x] = operands.bf16()?;
        let y = out.bf16();
        let wide: &mut Vec<f32> = scratch.of();
        wide.clear();
        wide.extend(x.iter().map(|&x| widen(x)));
        let x = wide.as_slice();
        if a.len() <= SERIAL {
            unit.run(Rows { rounding, a, x, y });
            return Ok(());
        }
        let rows = (PIECE / k).max(1);
        let pieces = y.par_chunks_mut(rows).zip(a.par_chunks(rows * k));
        pieces.for_each(|(y, a)| unit.run(Rows { rounding, a, x, y }));
        Ok(())
    }
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
    fn run<S: Simd>(self, simd: S) {
        for (y, a) in self.y.iter_mut().zip(self.a.chunks_exact(self.x.len())) {
            *y = self.rounding.narrow(dot(simd, a, self.x));
        }
    }
}

/// Lane `i` sums the products `i + 64 j`; then lanes `i` and `i + 32` are added, `i` and `i + 16`,
/// and so on. The order is fixed and the products are exact in f32: the same bits everywhere.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[bf16], x: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    simd.accumulate(a.as_chunks().0, x.as_chunks().0, &mut lanes);
    let halves = fold::<64, 32>(&lanes);
    let halves = fold::<32, 16>(&halves);
    let halves = fold::<16, 8>(&halves);
    let halves = fold::<8, 4>(&halves);
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}

/// Adds the upper half to the lower.
#[inline(always)]
fn fold<const N: usize, const HALF: usize>(lanes: &[f32; N]) -> [f32; HALF] {
    let (lower, upper) = lanes.split_at(HALF);
    let mut sums = [0.0; HALF];
    for ((sum, &lower), &upper) in sums.iter_mut().zip(lower).zip(upper) {
        *sum = lower + upper;
    }
    sums
}

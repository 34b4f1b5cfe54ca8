//! Kernels that compute each output from one element of either operand, in f32, and narrow once.

use half::bf16;

use super::{
    Datapath, Operands, Output, Scratch, Unwritten, spread,
    vector::{Simd, Task, VectorUnit},
};
use crate::rounding::{Rounding, floor, nearest_even, toward_zero, widen};

/// `out = narrow(f(a, b))`, element by element.
pub(crate) struct Binary<F> {
    pub(crate) rounding: Rounding,
    pub(crate) f: F,
}

impl<F: Fn(f32, f32) -> f32 + Copy + Send + Sync> Datapath for Binary<F> {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let Self { rounding, f } = *self;
        spread::pairs(operands.bf16()?, out.bf16(), |a, b, out| {
            unit.run(Piece { rounding, f, a, b, out });
        });
        Ok(())
    }
}

struct Piece<'a, F> {
    rounding: Rounding,
    f: F,
    a: &'a [bf16],
    b: &'a [bf16],
    out: &'a mut [bf16],
}

impl<F: Fn(f32, f32) -> f32> Piece<'_, F> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        for ((out, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = narrow((self.f)(widen(a), widen(b)));
        }
    }
}

impl<F: Fn(f32, f32) -> f32> Task for Piece<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        match self.rounding {
            Rounding::NearestEven => self.each(nearest_even),
            Rounding::Floor => self.each(floor),
            Rounding::TowardZero => self.each(toward_zero),
        }
    }
}

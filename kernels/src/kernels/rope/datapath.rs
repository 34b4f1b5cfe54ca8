//! Both products and their sum in one f32 accumulator, narrowed once; what is not rotated is copied.

use half::bf16;
use rayon::prelude::*;

use super::Rope;
use crate::{
    datapath::{
        Datapath, Operands, Output, Scratch, Unwritten,
        spread::{PIECE, SERIAL},
        task_by_rounding,
        vector::VectorUnit,
    },
    rounding::{Rounding, widen},
};

/// `y = rope(x)`, `x[tokens, heads * head_dim]` by `lut[tokens, rotary_dim]`.
pub(super) struct Rotation {
    pub(super) rope: Rope,
    pub(super) rounding: Rounding,
}

impl Datapath for Rotation {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { rope, rounding } = self;
        let [x, lut] = operands.bf16()?;
        let y = out.bf16();
        if y.len() <= SERIAL {
            unit.run(Tokens { rope, rounding, x, lut, y });
            return Ok(());
        }
        let tokens = (PIECE / (rope.heads * rope.head_dim)).max(1);
        let (wide, narrow) = (tokens * rope.heads * rope.head_dim, tokens * rope.rotary_dim);
        let pieces = y.par_chunks_mut(wide).zip(x.par_chunks(wide).zip(lut.par_chunks(narrow)));
        pieces.for_each(|(y, (x, lut))| unit.run(Tokens { rope, rounding, x, lut, y }));
        Ok(())
    }
}

struct Tokens<'a> {
    rope: Rope,
    rounding: Rounding,
    x: &'a [bf16],
    lut: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Tokens);

impl Tokens<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16 + Copy) {
        let Rope { heads, head_dim, rotary_dim, .. } = self.rope;
        let width = heads * head_dim;
        let tokens = self.y.chunks_exact_mut(width).zip(self.x.chunks_exact(width));
        for ((y, x), lut) in tokens.zip(self.lut.chunks_exact(rotary_dim)) {
            let (cosines, sines) = lut.split_at(rotary_dim / 2);
            for (y, x) in y.chunks_exact_mut(head_dim).zip(x.chunks_exact(head_dim)) {
                let ((x, x_rest), (y, y_rest)) =
                    (x.split_at(rotary_dim), y.split_at_mut(rotary_dim));
                rotate(x, cosines, sines, y, narrow);
                y_rest.copy_from_slice(x_rest);
            }
        }
    }
}

#[inline(always)]
fn rotate(
    x: &[bf16],
    cosines: &[bf16],
    sines: &[bf16],
    y: &mut [bf16],
    narrow: impl Fn(f32) -> bf16,
) {
    let half = cosines.len();
    let (x_low, x_high) = x.split_at(half);
    let (y_low, y_high) = y.split_at_mut(half);
    let factors = cosines.iter().zip(sines);
    let outputs = y_low.iter_mut().zip(y_high);
    for (((&a, &b), (&cos, &sin)), (low, high)) in
        x_low.iter().zip(x_high).zip(factors).zip(outputs)
    {
        let (a, b, cos, sin) = (widen(a), widen(b), widen(cos), widen(sin));
        *low = narrow(a * cos - b * sin);
        *high = narrow(a * sin + b * cos);
    }
}

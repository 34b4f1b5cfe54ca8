//! GELU in its tanh form: a chain of bf16 steps from one bf16, so a table of all values.

use half::bf16;
use rayon::prelude::*;

use super::{super::functions::Tanh, PIECE, SERIAL};
use crate::{Rounding, rounding::widen};

/// `bf16(0.044715)`, the cubic term's factor.
const BETA: f32 = 0.044_677_734;
/// `bf16(sqrt(2 / pi))`.
const ALPHA: f32 = 0.796_875;

/// `gelu` of every bf16, as the kernel computes it: `x^2` and `x^3` narrowed, `x + beta x^3`
/// narrowed once, the argument of tanh, `1 + t` and the product narrowed. (Halving is exact.)
pub(in super::super) fn table(tanh: &Tanh, rounding: Rounding) -> Vec<bf16> {
    let round = |x| widen(rounding.narrow(x));
    let gelu = |bits: u16| {
        let x = widen(bf16::from_bits(bits));
        let cube = round(x * round(x * x));
        let inner = round(x + BETA * cube);
        let t = widen(tanh.eval(round(ALPHA * inner)));
        rounding.narrow(0.5 * x * round(1.0 + t))
    };
    (0..=u16::MAX).map(gelu).collect()
}

/// `y = gelu(x)`, with [`table`] for `gelu`.
pub(in super::super) fn run(gelu: &[bf16], x: &[bf16], y: &mut [bf16]) {
    let piece = |(y, x): (&mut [bf16], &[bf16])| {
        for (y, x) in y.iter_mut().zip(x) {
            *y = gelu[usize::from(x.to_bits())];
        }
    };
    if y.len() <= SERIAL {
        return piece((y, x));
    }
    y.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).for_each(piece);
}

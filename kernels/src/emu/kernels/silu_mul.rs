//! SiLU-and-Mul: `silu(g) = g (1 + tanh(g / 2)) / 2` in bf16 steps, times up.

use half::bf16;
use rayon::prelude::*;

use super::{
    super::{functions::Tanh, vector::VectorUnit},
    PIECE, SERIAL,
    by_rounding::task_by_rounding,
};
use crate::{Rounding, rounding::widen};

/// Elements that are looked up at once.
const LOOKUPS: usize = 256;

/// `silu` of every bf16, as the kernel computes it: `tanh` of the exact half, then `1 + t` and the
/// product with the gate each narrowed. (Halving is exact.)
pub(in super::super) fn table(tanh: &Tanh, rounding: Rounding) -> Vec<bf16> {
    let silu = |bits: u16| {
        let gate = widen(bf16::from_bits(bits));
        let t = widen(tanh.eval(gate * 0.5));
        let sigmoid = 0.5 * widen(rounding.narrow(1.0 + t));
        rounding.narrow(gate * sigmoid)
    };
    (0..=u16::MAX).map(silu).collect()
}

/// `out = silu(gate) * up`, with [`table`] for `silu`.
pub(in super::super) fn run(
    unit: VectorUnit,
    rounding: Rounding,
    silu: &[bf16],
    gate: &[bf16],
    up: &[bf16],
    out: &mut [bf16],
) {
    if out.len() <= SERIAL {
        return unit.run(Piece { rounding, silu, gate, up, out });
    }
    let pieces = out.par_chunks_mut(PIECE).zip(gate.par_chunks(PIECE).zip(up.par_chunks(PIECE)));
    pieces.for_each(|(out, (gate, up))| unit.run(Piece { rounding, silu, gate, up, out }));
}

struct Piece<'a> {
    rounding: Rounding,
    silu: &'a [bf16],
    gate: &'a [bf16],
    up: &'a [bf16],
    out: &'a mut [bf16],
}

task_by_rounding!(Piece);

impl Piece<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        // Looked up first, multiplied then: the compiler vectorises the second loop alone.
        let mut silus = [bf16::ZERO; LOOKUPS];
        let pieces = self.out.chunks_mut(LOOKUPS);
        let pieces = pieces.zip(self.gate.chunks(LOOKUPS).zip(self.up.chunks(LOOKUPS)));
        for (out, (gate, up)) in pieces {
            for (silu, gate) in silus.iter_mut().zip(gate) {
                *silu = self.silu[usize::from(gate.to_bits())];
            }
            for ((out, &silu), &up) in out.iter_mut().zip(&silus).zip(up) {
                *out = narrow(widen(silu) * widen(up));
            }
        }
    }
}

//! The functions of the softmax kernels: `exp2` of a scaled difference of bf16, by a table, and the
//! reciprocal of the denominator.

use std::sync::Arc;

use half::bf16;

use super::super::functions::{Exp2, Reciprocal};
use crate::rounding::widen;

/// The most negative bf16: where a running maximum starts, and where differences are clamped.
pub(super) const LOWEST: f32 = f32::from_bits(0xFF7F_0000);

/// What a softmax computes with.
#[derive(Clone)]
pub(in super::super) struct SoftmaxFunctions {
    /// Of differences from the maximum.
    pub(in super::super) exp: Arc<Exponential>,
    /// Of the denominator.
    pub(in super::super) reciprocal: Reciprocal,
}

/// `exp2(c d)` of every bf16 `d`.
#[derive(Debug)]
pub(in super::super) struct Exponential {
    table: Vec<bf16>,
}

impl Exponential {
    /// `d` is clamped to the lowest bf16; its product with `c` is exact in f32 and is not narrowed.
    pub(super) fn new(exp2: &Exp2, c: bf16) -> Self {
        let value = |bits: u16| {
            let d = widen(bf16::from_bits(bits));
            let d = if d < LOWEST { LOWEST } else { d };
            exp2.eval(d * widen(c))
        };
        Self { table: (0..=u16::MAX).map(value).collect() }
    }

    #[inline(always)]
    pub(super) fn get(&self, d: bf16) -> bf16 {
        self.table[usize::from(d.to_bits())]
    }

    #[inline(always)]
    pub(super) fn eval(&self, d: bf16) -> f32 {
        widen(self.get(d))
    }

    /// Whether `exp(lowest)` is 0 and `exp(0)` is 1, so that masked chunks may be skipped: true of
    /// the hardware's function and the exact one, and to be checked for a table.
    #[inline(always)]
    pub(super) fn skips_masked(&self) -> bool {
        self.get(bf16::NEG_INFINITY) == bf16::ZERO && self.get(bf16::ZERO) == bf16::ONE
    }
}

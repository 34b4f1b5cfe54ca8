//! The functions of the softmax kernels: `exp2` of a scaled difference of bf16, by a table, and the
//! reciprocal of the denominator.

use std::sync::Arc;

use half::bf16;

use super::{Prepare, functions::Reciprocal};
use crate::rounding::widen;

/// The most negative bf16: where a running maximum starts, and where differences are clamped.
pub(crate) const LOWEST: f32 = f32::from_bits(0xFF7F_0000);

/// What a softmax computes with.
pub(crate) struct SoftmaxFunctions {
    /// Of differences from the maximum.
    pub(crate) exp: Exponential,
    /// Of the denominator.
    pub(crate) reciprocal: Reciprocal,
}

impl SoftmaxFunctions {
    /// Those of a kernel whose exponential is `exp2(c d)`.
    pub(crate) fn new(c: bf16, prepare: &mut Prepare<'_>) -> Self {
        Self { exp: Exponential::new(c, prepare), reciprocal: prepare.functions.reciprocal.clone() }
    }
}

/// `exp2(c d)` of every bf16 `d`.
#[derive(Debug)]
pub(crate) struct Exponential {
    table: Arc<[bf16]>,
}

impl Exponential {
    /// `d` is clamped to the lowest bf16; its product with `c` is exact in f32 and is not narrowed.
    pub(crate) fn new(c: bf16, prepare: &mut Prepare<'_>) -> Self {
        let exp2 = &prepare.functions.exp2;
        let value = |d: bf16| {
            let d = widen(d);
            let d = if d < LOWEST { LOWEST } else { d };
            exp2.eval(d * widen(c))
        };
        Self { table: prepare.table_of_constant("exp2", c, value) }
    }

    #[inline(always)]
    pub(crate) fn get(&self, d: bf16) -> bf16 {
        self.table[usize::from(d.to_bits())]
    }

    #[inline(always)]
    pub(crate) fn eval(&self, d: bf16) -> f32 {
        widen(self.get(d))
    }

    /// Whether `exp(lowest)` is 0 and `exp(0)` is 1, so that masked chunks may be skipped: this
    /// holds for the hardware's function and the exact one, and must be checked for a table.
    #[inline(always)]
    pub(crate) fn skips_masked(&self) -> bool {
        self.get(bf16::NEG_INFINITY) == bf16::ZERO && self.get(bf16::ZERO) == bf16::ONE
    }
}

//! Narrowing f32 to bf16: the rounding mode of a core.

// Inlined into code that is compiled for a vector unit: `datapath::vector::Task`.
#![allow(clippy::inline_always)]

use half::bf16;
use serde::{Deserialize, Serialize};

/// How a core narrows f32 to bf16.
///
/// On AIE2P the mode is state of the core (control register `crRnd`: `floor` = 0, `conv_even` =
/// 12), set by some kernels and left alone by others, and it decides most of the registry's
/// accuracy figures. So it is explicit in each [`Launch`](crate::Launch).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To nearest, ties to even (`conv_even`), as IEEE 754 and every CPU and GPU do.
    NearestEven,
    /// Toward negative infinity (`floor`): what a core does after reset.
    Floor,
    /// Toward zero: the value's lower 16 bits are dropped.
    TowardZero,
}

impl Rounding {
    /// Narrows one value. NaN stays NaN; overflow goes to infinity where the mode says so.
    ///
    /// ```
    /// use npugate_kernels::Rounding;
    /// let x = -1.001;
    /// assert_eq!(Rounding::NearestEven.narrow(x).to_f32(), -1.0);
    /// assert_eq!(Rounding::Floor.narrow(x).to_f32(), -1.0078125);
    /// assert_eq!(Rounding::TowardZero.narrow(x).to_f32(), -1.0);
    /// ```
    #[inline(always)]
    pub fn narrow(self, x: f32) -> bf16 {
        match self {
            Self::NearestEven => nearest_even(x),
            Self::Floor => floor(x),
            Self::TowardZero => toward_zero(x),
        }
    }

    /// Narrows `from` into `to`, element by element, as far as the shorter of the two goes.
    #[inline(always)]
    pub fn narrow_slice(self, from: &[f32], to: &mut [bf16]) {
        #[inline(always)]
        fn each(from: &[f32], to: &mut [bf16], narrow: impl Fn(f32) -> bf16) {
            for (y, &x) in to.iter_mut().zip(from) {
                *y = narrow(x);
            }
        }
        match self {
            Self::NearestEven => each(from, to, nearest_even),
            Self::Floor => each(from, to, floor),
            Self::TowardZero => each(from, to, toward_zero),
        }
    }

    /// Rounds every value to one that bf16 can represent, in place.
    #[inline(always)]
    pub fn round_slice(self, values: &mut [f32]) {
        #[inline(always)]
        fn each(values: &mut [f32], narrow: impl Fn(f32) -> bf16) {
            for x in values {
                *x = widen(narrow(*x));
            }
        }
        match self {
            Self::NearestEven => each(values, nearest_even),
            Self::Floor => each(values, floor),
            Self::TowardZero => each(values, toward_zero),
        }
    }
}

/// Widens without the branches that `half` has for signalling NaNs: the bits are moved as they are.
#[inline(always)]
pub(crate) fn widen(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// A NaN may carry its payload in the lower 16 bits alone; the quiet bit keeps it a NaN.
#[inline(always)]
fn finish(x: f32, rounded: u32) -> bf16 {
    let upper = (rounded >> 16) as u16;
    let quiet = (x.to_bits() >> 16) as u16 | 0x40;
    bf16::from_bits(if x.is_nan() { quiet } else { upper })
}

#[inline(always)]
pub(crate) fn nearest_even(x: f32) -> bf16 {
    let bits = x.to_bits();
    finish(x, bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)))
}

#[inline(always)]
pub(crate) fn floor(x: f32) -> bf16 {
    let bits = x.to_bits();
    // Away from zero for negative values: their magnitude grows if anything is dropped.
    let negative = (bits >> 31).wrapping_neg() & 0xFFFF;
    finish(x, bits.wrapping_add(negative))
}

#[inline(always)]
pub(crate) fn toward_zero(x: f32) -> bf16 {
    finish(x, x.to_bits())
}

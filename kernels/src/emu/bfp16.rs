//! The block format of AIE2P's emulated bf16 matrix products: bfp16ebs8.
//!
//! Eight neighbours along K share an exponent `e = floor(log2(max |x|))`; each keeps an 8-bit two's
//! complement mantissa in steps of `2^(e - 6)`. If a rounded mantissa leaves `[-128, 127]`, which only
//! +127.5 can, the exponent is raised by one and all eight are rounded again; -128 stays. This rule alone
//! of those tried meets the published accuracy of 23 GEMM shapes to 0.0017e-3.
//!
//! Every value of the format is exact in bf16, so the products are computed from bf16.
//!
//! Where no data exists, this module is loud or harmless: a block that holds a NaN or an infinity becomes
//! NaN altogether, and the exponent of a block is at least -120.

use crate::Rounding;

/// Values that share an exponent.
pub(crate) const BLOCK: usize = 8;

/// Smallest biased exponent of a block, so that its scale is a normal f32.
const MIN_EXPONENT: u32 = 7;
/// Adding and subtracting it rounds a small f32 to the nearest integer, ties to even.
const TO_INTEGER: f32 = 12_582_912.0; // 1.5 * 2^23

/// Quantises `W` blocks side by side, in place: `x[k][w]` is value `k` of block `w`.
#[inline(always)]
pub(crate) fn quantise<const W: usize>(x: &mut [[f32; W]; BLOCK], rounding: Rounding) {
    match rounding {
        Rounding::NearestEven => quantise_by(x, |v| (v + TO_INTEGER) - TO_INTEGER),
        // A mantissa has one zero: adding it makes the negative zero positive.
        Rounding::Floor => quantise_by(x, |v| v.floor() + 0.0),
        Rounding::TowardZero => quantise_by(x, |v| v.trunc() + 0.0),
    }
}

#[inline(always)]
fn quantise_by<const W: usize>(x: &mut [[f32; W]; BLOCK], round: impl Fn(f32) -> f32) {
    let mut largest = [0_u32; W];
    for row in x.iter() {
        for (largest, v) in largest.iter_mut().zip(row) {
            *largest = (*largest).max(v.to_bits() & 0x7FFF_FFFF);
        }
    }
    let exponent = largest.map(|bits| (bits >> 23).max(MIN_EXPONENT));
    // 2^(6 - e), where `exponent` is e + 127.
    let mut scale = exponent.map(|e| f32::from_bits((260 - e.min(254)) << 23));
    let mut mantissa = [f32::NEG_INFINITY; W];
    for row in x.iter() {
        for ((mantissa, &v), &scale) in mantissa.iter_mut().zip(row).zip(&scale) {
            *mantissa = mantissa.max(round(v * scale));
        }
    }
    let mut step = exponent.map(|e| f32::from_bits((e.min(254) - 6) << 23));
    for w in 0..W {
        let raised = mantissa[w] > 127.0;
        scale[w] *= if raised { 0.5 } else { 1.0 };
        step[w] *= if raised { 2.0 } else { 1.0 };
        step[w] = if exponent[w] == 255 { f32::NAN } else { step[w] };
    }
    for row in x {
        for ((v, &scale), &step) in row.iter_mut().zip(&scale).zip(&step) {
            *v = round(*v * scale) * step;
        }
    }
}

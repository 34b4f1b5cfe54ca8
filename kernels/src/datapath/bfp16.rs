//! The block format of AIE2P's emulated bf16 matrix products: bfp16ebs8.
//!
//! Eight neighbours along K share an exponent `e = floor(log2(max |x|))`; each keeps an 8-bit two's
//! complement mantissa in steps of `2^(e - 6)`. If a rounded mantissa leaves `[-128, 127]`, which
//! only +127.5 can, the exponent is raised by one and all eight are rounded again; -128 stays. Of
//! the rules tried, only this one meets the published accuracy of 23 GEMM shapes, to 0.0017e-3.
//!
//! Every value of the format is exact in bf16, so the products are computed from bf16.
//!
//! Where no data exists, this module keeps faulty values visible: a NaN stays a NaN, and an
//! infinity becomes a NaN or stays infinite. The exponent of a block is at least -120.

use crate::Rounding;

/// Values that share an exponent.
pub(crate) const BLOCK: usize = 8;

/// Smallest biased exponent of a block, so that its scale is a normal f32.
const MIN_EXPONENT: u32 = 7;
/// Largest biased exponent of a finite value.
const MAX_EXPONENT: u32 = 254;
/// Adding and subtracting it rounds a small f32 to the nearest integer, ties to even.
const TO_INTEGER: f32 = 12_582_912.0; // 1.5 * 2^23

/// Pairs of neighbours in a block.
pub(crate) const PAIRS: usize = BLOCK / 2;

/// Quantises `W` blocks side by side, in place: `pairs[p][w]` holds value `2 p` of block `w` in its
/// lower half and value `2 p + 1` in its upper half, both bf16.
#[inline(always)]
pub(crate) fn quantise<const W: usize>(pairs: &mut [[u32; W]; PAIRS], rounding: Rounding) {
    match rounding {
        Rounding::NearestEven => quantise_by(pairs, |v| (v + TO_INTEGER) - TO_INTEGER),
        // A mantissa has one zero: adding it makes the negative zero positive.
        Rounding::Floor => quantise_by(pairs, |v| v.floor() + 0.0),
        Rounding::TowardZero => quantise_by(pairs, |v| v.trunc() + 0.0),
    }
}

#[inline(always)]
fn quantise_by<const W: usize>(pairs: &mut [[u32; W]; PAIRS], round: impl Fn(f32) -> f32) {
    let exponent = exponents(pairs);
    // 2^(6 - e), where `exponent` is e + 127.
    let mut scale = exponent.map(|e| f32::from_bits((260 - e) << 23));
    let mut mantissas = [[0.0; W]; BLOCK];
    scaled(pairs, &scale, &mut mantissas, &round);
    let mut largest = [0.0_f32; W];
    for row in &mantissas {
        for (largest, &mantissa) in largest.iter_mut().zip(row) {
            *largest = largest.max(mantissa);
        }
    }
    let mut step = exponent.map(|e| f32::from_bits((e - 6) << 23));
    // Rare: a branch is cheaper than rounding everything twice.
    if largest.iter().any(|&largest| largest > 127.0) {
        for w in 0..W {
            let raised = largest[w] > 127.0;
            scale[w] *= if raised { 0.5 } else { 1.0 };
            step[w] *= if raised { 2.0 } else { 1.0 };
        }
        scaled(pairs, &scale, &mut mantissas, &round);
    }
    for (p, pair) in pairs.iter_mut().enumerate() {
        for w in 0..W {
            let even = (mantissas[2 * p][w] * step[w]).to_bits();
            let odd = (mantissas[2 * p + 1][w] * step[w]).to_bits();
            // Exact in bf16: the lower halves are zero.
            pair[w] = (odd & 0xFFFF_0000) | (even >> 16);
        }
    }
}

/// The biased exponent of each block's largest magnitude, within `[MIN_EXPONENT, MAX_EXPONENT]`.
#[inline(always)]
fn exponents<const W: usize>(pairs: &[[u32; W]; PAIRS]) -> [u32; W] {
    let mut largest = [0_u32; W];
    for pair in pairs {
        for (largest, &pair) in largest.iter_mut().zip(pair) {
            *largest = (*largest).max(pair & 0x7FFF_0000).max((pair << 16) & 0x7FFF_0000);
        }
    }
    largest.map(|bits| (bits >> 23).clamp(MIN_EXPONENT, MAX_EXPONENT))
}

/// Every value times its block's scale, rounded.
#[inline(always)]
fn scaled<const W: usize>(
    pairs: &[[u32; W]; PAIRS],
    scale: &[f32; W],
    mantissas: &mut [[f32; W]; BLOCK],
    round: impl Fn(f32) -> f32,
) {
    for (p, pair) in pairs.iter().enumerate() {
        for w in 0..W {
            mantissas[2 * p][w] = round(f32::from_bits(pair[w] << 16) * scale[w]);
            mantissas[2 * p + 1][w] = round(f32::from_bits(pair[w] & 0xFFFF_0000) * scale[w]);
        }
    }
}

//! NEON: every 64-bit Arm machine.
//!
//! (The bf16 dot product of Armv8.6 rounds differently in each generation and is not used.)

#![allow(unsafe_code)]

use std::arch::{
    aarch64::{
        vandq_u32, vdupq_n_f32, vdupq_n_u32, vfmaq_f32, vld1_u16, vld1q_f32, vld1q_u32, vmovl_u16,
        vreinterpretq_f32_u32, vshlq_n_u32, vst1q_f32,
    },
    is_aarch64_feature_detected,
};

use half::bf16;

use super::{LANES, LeftPair, RightPair, Simd, Tile};

/// Proof that the instructions are there: only [`Neon::detect`] makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) struct Neon(());

impl Neon {
    pub(super) fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Simd for Neon {
    #[inline(always)]
    fn multiply(self, a: &[LeftPair], b: &[RightPair], c: &mut Tile) {
        for row in (0..Tile::ROWS).step_by(ROWS) {
            for col in (0..Tile::COLS).step_by(VECTORS * 4) {
                // SAFETY: `self` exists, so `detect` found NEON.
                unsafe { piece(a, b, c, row, col) }
            }
        }
    }

    #[inline(always)]
    fn accumulate(self, a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]) {
        // SAFETY: `self` exists, so `detect` found NEON.
        unsafe { accumulate(a, x, lanes) }
    }
}

/// Rows and vectors of a piece of the tile whose sums fit the 32 registers.
const ROWS: usize = 8;
const VECTORS: usize = 2;

/// The piece of the tile from `row` and `col` on.
#[inline]
#[target_feature(enable = "neon")]
fn piece(a: &[LeftPair], b: &[RightPair], c: &mut Tile, row: usize, col: usize) {
    let upper = vdupq_n_u32(0xFFFF_0000);
    let mut sums = [[vdupq_n_f32(0.0); VECTORS]; ROWS];
    for (sums, c) in sums.iter_mut().zip(&c.0[row..row + ROWS]) {
        for (sum, part) in sums.iter_mut().zip(c[col..].as_chunks::<4>().0) {
            // SAFETY: `part` is 4 floats.
            *sum = unsafe { vld1q_f32(part.as_ptr()) };
        }
    }
    for (a, b) in a.iter().zip(b) {
        for v in 0..VECTORS {
            // SAFETY: a part is 4 words.
            let b = unsafe { vld1q_u32(b.0[col..].as_chunks::<4>().0[v].as_ptr()) };
            let odd = vreinterpretq_f32_u32(vandq_u32(b, upper));
            let even = vreinterpretq_f32_u32(vshlq_n_u32::<16>(b));
            for (sums, &a) in sums.iter_mut().zip(&a.0[row..row + ROWS]) {
                let a = vdupq_n_u32(a);
                let a_odd = vreinterpretq_f32_u32(vandq_u32(a, upper));
                let a_even = vreinterpretq_f32_u32(vshlq_n_u32::<16>(a));
                sums[v] = vfmaq_f32(sums[v], a_odd, odd);
                sums[v] = vfmaq_f32(sums[v], a_even, even);
            }
        }
    }
    for (sums, c) in sums.iter().zip(&mut c.0[row..row + ROWS]) {
        for (&sum, part) in sums.iter().zip(c[col..].as_chunks_mut::<4>().0) {
            // SAFETY: as for the loads.
            unsafe { vst1q_f32(part.as_mut_ptr(), sum) };
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn accumulate(a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]) {
    let mut sums = [vdupq_n_f32(0.0); LANES / 4];
    for (sum, part) in sums.iter_mut().zip(lanes.as_chunks::<4>().0) {
        // SAFETY: a part is 4 floats.
        *sum = unsafe { vld1q_f32(part.as_ptr()) };
    }
    for (a, x) in a.iter().zip(x) {
        let parts = a.as_chunks::<4>().0.iter().zip(x.as_chunks::<4>().0);
        for (sum, (a, x)) in sums.iter_mut().zip(parts) {
            // SAFETY: a part is 4 bf16, which are 16 bits wide.
            let a = unsafe { vld1_u16(a.as_ptr().cast()) };
            let a = vreinterpretq_f32_u32(vshlq_n_u32::<16>(vmovl_u16(a)));
            // SAFETY: a part is 4 floats.
            *sum = vfmaq_f32(*sum, a, unsafe { vld1q_f32(x.as_ptr()) });
        }
    }
    for (&sum, part) in sums.iter().zip(lanes.as_chunks_mut::<4>().0) {
        // SAFETY: as for the load.
        unsafe { vst1q_f32(part.as_mut_ptr(), sum) };
    }
}

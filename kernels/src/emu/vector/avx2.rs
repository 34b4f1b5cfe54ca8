//! AVX2 with FMA: every x86-64 machine since 2013 or so.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm256_and_si256, _mm256_castsi256_ps, _mm256_fmadd_ps, _mm256_load_ps, _mm256_load_si256,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_slli_epi32, _mm256_store_ps,
};

use super::{LeftPair, RightPair, Simd, Task, Tile};

/// Proof that the instructions are there: only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    pub(super) fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx2,fma")]
        fn enabled<T: Task>(unit: Avx2, task: T) -> T::Output {
            task.run(unit)
        }
        // SAFETY: `self` exists, so `detect` found every feature that `enabled` is compiled for.
        unsafe { enabled(self, task) }
    }
}

impl Simd for Avx2 {
    #[inline(always)]
    fn multiply(self, a: &[LeftPair], b: &[RightPair], c: &mut Tile) {
        // SAFETY: `self` exists, so `detect` found every feature that `multiply` is compiled for.
        unsafe { multiply(a, b, c) }
    }
}

/// Rows and vectors of a piece of the tile whose sums fit the 16 registers.
const ROWS: usize = 4;
const VECTORS: usize = 2;

#[inline]
#[target_feature(enable = "avx2,fma")]
fn multiply(a: &[LeftPair], b: &[RightPair], c: &mut Tile) {
    for row in (0..Tile::ROWS).step_by(ROWS) {
        for col in (0..Tile::COLS).step_by(VECTORS * 8) {
            piece(a, b, c, row, col);
        }
    }
}

/// The piece of the tile from `row` and `col` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn piece(a: &[LeftPair], b: &[RightPair], c: &mut Tile, row: usize, col: usize) {
    let upper = _mm256_set1_epi32(0xFFFF_0000_u32.cast_signed());
    let mut sums = [[_mm256_setzero_ps(); VECTORS]; ROWS];
    for (sums, c) in sums.iter_mut().zip(&c.0[row..row + ROWS]) {
        for (sum, part) in sums.iter_mut().zip(c[col..].as_chunks::<8>().0) {
            // SAFETY: `part` is 8 floats, aligned to 32 bytes: a `Tile` is, and `col` is a multiple of 8.
            *sum = unsafe { _mm256_load_ps(part.as_ptr()) };
        }
    }
    for (a, b) in a.iter().zip(b) {
        for v in 0..VECTORS {
            let part = &b.0[col..].as_chunks::<8>().0[v];
            // SAFETY: `part` is 8 words, aligned to 32 bytes: a `RightPair` is, `col` is a multiple of 8.
            let b = unsafe { _mm256_load_si256(part.as_ptr().cast()) };
            let odd = _mm256_castsi256_ps(_mm256_and_si256(b, upper));
            let even = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(b));
            for (sums, &a) in sums.iter_mut().zip(&a.0[row..row + ROWS]) {
                let a_odd = _mm256_set1_ps(f32::from_bits(a & 0xFFFF_0000));
                let a_even = _mm256_set1_ps(f32::from_bits(a << 16));
                sums[v] = _mm256_fmadd_ps(a_odd, odd, sums[v]);
                sums[v] = _mm256_fmadd_ps(a_even, even, sums[v]);
            }
        }
    }
    for (sums, c) in sums.iter().zip(&mut c.0[row..row + ROWS]) {
        for (&sum, part) in sums.iter().zip(c[col..].as_chunks_mut::<8>().0) {
            // SAFETY: as for the loads.
            unsafe { _mm256_store_ps(part.as_mut_ptr(), sum) };
        }
    }
}

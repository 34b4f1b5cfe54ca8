//! AVX2 with FMA: every x86-64 machine since 2013 or so.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm_loadu_si128, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cvtepu16_epi32, _mm256_fmadd_ps,
    _mm256_load_ps, _mm256_load_si256, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_permute2x128_si256, _mm256_set1_epi32, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_slli_epi32, _mm256_store_ps, _mm256_storeu_ps, _mm256_storeu_si256,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use half::bf16;

use super::{LANES, LeftPair, RightPair, Simd, Task, Tile};

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

    #[inline(always)]
    fn accumulate(self, a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]) {
        // SAFETY: `self` exists, so `detect` found every feature that `accumulate` is compiled for.
        unsafe { accumulate(a, x, lanes) }
    }

    #[inline(always)]
    fn transpose(self, words: &mut [[u32; 8]; 8]) {
        // SAFETY: `self` exists, so `detect` found AVX2.
        unsafe { transpose(words) }
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
            // SAFETY: `part` is 8 floats, aligned to 32 bytes: a `Tile` is, and `col` is a multiple
            // of 8.
            *sum = unsafe { _mm256_load_ps(part.as_ptr()) };
        }
    }
    for (a, b) in a.iter().zip(b) {
        for v in 0..VECTORS {
            let part = &b.0[col..].as_chunks::<8>().0[v];
            // SAFETY: `part` is 8 words, aligned to 32 bytes: a `RightPair` is, `col` is a multiple
            // of 8.
            let b = unsafe { _mm256_load_si256(part.as_ptr().cast()) };
            let odd = _mm256_castsi256_ps(_mm256_and_si256(b, upper));
            let even = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(b));
            for (sums, &a) in sums.iter_mut().zip(&a.0[row..row + ROWS]) {
                let a = _mm256_set1_epi32(a.cast_signed());
                let a_odd = _mm256_castsi256_ps(_mm256_and_si256(a, upper));
                let a_even = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(a));
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

/// Exchanges the rows and columns of 8 x 8 words: words, then pairs of words, then halves of
/// vectors.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose(words: &mut [[u32; 8]; 8]) {
    let mut rows = [_mm256_setzero_si256(); 8];
    for (row, words) in rows.iter_mut().zip(words.iter()) {
        // SAFETY: 8 words are read; no alignment is asked for.
        *row = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
    }
    let mut pairs = rows;
    for i in (0..8).step_by(2) {
        pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    let mut fours = pairs;
    for i in [0, 4] {
        fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for i in 0..4 {
        let low = _mm256_permute2x128_si256::<0x20>(fours[i], fours[i + 4]);
        let high = _mm256_permute2x128_si256::<0x31>(fours[i], fours[i + 4]);
        // SAFETY: 8 words are written; no alignment is asked for.
        unsafe { _mm256_storeu_si256(words[i].as_mut_ptr().cast(), low) };
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(words[i + 4].as_mut_ptr().cast(), high) };
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn accumulate(a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]) {
    let mut sums = [_mm256_setzero_ps(); LANES / 8];
    for (sum, part) in sums.iter_mut().zip(lanes.as_chunks::<8>().0) {
        // SAFETY: a part is 8 floats; no alignment is asked for.
        *sum = unsafe { _mm256_loadu_ps(part.as_ptr()) };
    }
    for (a, x) in a.iter().zip(x) {
        let parts = a.as_chunks::<8>().0.iter().zip(x.as_chunks::<8>().0);
        for (sum, (a, x)) in sums.iter_mut().zip(parts) {
            // SAFETY: a part is 8 bf16; no alignment is asked for.
            let a = unsafe { _mm_loadu_si128(a.as_ptr().cast()) };
            let a = _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(a));
            // SAFETY: a part is 8 floats; no alignment is asked for.
            let x = unsafe { _mm256_loadu_ps(x.as_ptr()) };
            *sum = _mm256_fmadd_ps(_mm256_castsi256_ps(a), x, *sum);
        }
    }
    for (&sum, part) in sums.iter().zip(lanes.as_chunks_mut::<8>().0) {
        // SAFETY: as for the load.
        unsafe { _mm256_storeu_ps(part.as_mut_ptr(), sum) };
    }
}

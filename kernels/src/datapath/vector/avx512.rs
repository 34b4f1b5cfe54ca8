//! AVX-512 with `vdpbf16ps`: Zen 4 and later, Cooper Lake, Sapphire Rapids and later.

#![allow(unsafe_code)]

use std::{
    arch::x86_64::{
        __m512bh, _mm256_loadu_si256, _mm512_castsi512_ps, _mm512_cvtepu16_epi32, _mm512_dpbf16_ps,
        _mm512_fmadd_ps, _mm512_load_ps, _mm512_load_si512, _mm512_loadu_ps, _mm512_set1_epi32,
        _mm512_setzero_ps, _mm512_slli_epi32, _mm512_store_ps, _mm512_storeu_ps,
    },
    mem::transmute,
};

use half::bf16;

use super::{LANES, LeftPair, RightPair, Simd, Task, Tile, avx2};

/// Proof that the instructions are there: only [`Avx512::detect`] makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bf16")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    pub(super) fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")]
        fn enabled<T: Task>(unit: Avx512, task: T) -> T::Output {
            task.run(unit)
        }
        // SAFETY: `self` exists, so `detect` found every feature that `enabled` is compiled for.
        unsafe { enabled(self, task) }
    }
}

impl Simd for Avx512 {
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
        // SAFETY: `self` exists, so `detect` found AVX2 too.
        unsafe { avx2::transpose(words) }
    }
}

/// Vectors in a row of the tile.
const VECTORS: usize = Tile::COLS / 16;

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply(a: &[LeftPair], b: &[RightPair], c: &mut Tile) {
    let mut sums = [[_mm512_setzero_ps(); VECTORS]; Tile::ROWS];
    for (sums, row) in sums.iter_mut().zip(&c.0) {
        for (sum, part) in sums.iter_mut().zip(row.as_chunks::<16>().0) {
            // SAFETY: `part` is 16 floats, aligned to 64 bytes: a `Tile` is, its rows are 128
            // bytes.
            *sum = unsafe { _mm512_load_ps(part.as_ptr()) };
        }
    }
    for (a, b) in a.iter().zip(b) {
        let parts = b.0.as_chunks::<16>().0;
        let b: [__m512bh; VECTORS] = std::array::from_fn(|v| {
            // SAFETY: a part is 16 words, aligned to 64 bytes as `RightPair` is and one is 128
            // bytes; both vector types are 512 plain bits.
            unsafe { transmute(_mm512_load_si512(parts[v].as_ptr().cast())) }
        });
        for (sums, &a) in sums.iter_mut().zip(&a.0) {
            // SAFETY: both vector types are 512 plain bits.
            let a: __m512bh = unsafe { transmute(_mm512_set1_epi32(a.cast_signed())) };
            for (sum, &b) in sums.iter_mut().zip(&b) {
                *sum = _mm512_dpbf16_ps(*sum, a, b);
            }
        }
    }
    for (sums, row) in sums.iter().zip(&mut c.0) {
        for (&sum, part) in sums.iter().zip(row.as_chunks_mut::<16>().0) {
            // SAFETY: as for the loads.
            unsafe { _mm512_store_ps(part.as_mut_ptr(), sum) };
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn accumulate(a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]) {
    let mut sums = [_mm512_setzero_ps(); LANES / 16];
    for (sum, part) in sums.iter_mut().zip(lanes.as_chunks::<16>().0) {
        // SAFETY: a part is 16 floats; no alignment is asked for.
        *sum = unsafe { _mm512_loadu_ps(part.as_ptr()) };
    }
    for (a, x) in a.iter().zip(x) {
        let parts = a.as_chunks::<16>().0.iter().zip(x.as_chunks::<16>().0);
        for (sum, (a, x)) in sums.iter_mut().zip(parts) {
            // SAFETY: a part is 16 bf16; no alignment is asked for.
            let a = unsafe { _mm256_loadu_si256(a.as_ptr().cast()) };
            let a = _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(a));
            // SAFETY: a part is 16 floats; no alignment is asked for.
            let x = unsafe { _mm512_loadu_ps(x.as_ptr()) };
            *sum = _mm512_fmadd_ps(_mm512_castsi512_ps(a), x, *sum);
        }
    }
    for (&sum, part) in sums.iter().zip(lanes.as_chunks_mut::<16>().0) {
        // SAFETY: as for the load.
        unsafe { _mm512_storeu_ps(part.as_mut_ptr(), sum) };
    }
}

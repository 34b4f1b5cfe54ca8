//! The vector units of the host's CPU, and the one place where one is chosen.
//!
//! A [`Task`] is portable code, generic over [`Simd`]. [`VectorUnit::run`] compiles it once for
//! each unit, with that unit's instructions enabled, and calls the right one: the compiler
//! vectorises the portable part, and the methods of [`Simd`], which it would not find by itself,
//! are written by hand.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

use std::{fmt, str::FromStr};

use half::bf16;

use super::tile::{LeftPair, RightPair, Tile};

/// Accumulator lanes of the GEMV kernel.
pub(crate) const LANES: usize = 64;

/// The operations of a vector unit that are written by hand.
pub(crate) trait Simd: Copy {
    /// `c += a b`: [`Tile::ROWS`] rows by [`Tile::COLS`] columns over the pairs of K in `a` and
    /// `b`, as far as the shorter goes.
    ///
    /// All units add in one order, so that all give the same bits: pair after pair, of each pair
    /// the odd element first. That is the order of `vdpbf16ps`; the product of two bf16 is exact in
    /// f32, so fused and separate additions agree. (`vdpbf16ps` alone flushes denormal inputs and
    /// results to zero; sums below 1e-38 may differ.)
    fn multiply(self, a: &[LeftPair], b: &[RightPair], c: &mut Tile);

    /// `lanes[i] += a[j][i] x[j][i]` for each j in turn, as far as the shorter of the two goes: the
    /// sums of a GEMV. (Left to itself, the compiler keeps the lanes in memory.)
    fn accumulate(self, a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]);

    /// Exchanges rows and columns. (Left to itself, the compiler gathers words one by one.)
    #[inline(always)]
    fn transpose(self, words: &mut [[u32; 8]; 8]) {
        let rows = *words;
        for (col, words) in words.iter_mut().enumerate() {
            for (word, row) in words.iter_mut().zip(&rows) {
                *word = row[col];
            }
        }
    }
}

/// Portable code to run with a unit's instructions. Implementations of `run` are
/// `#[inline(always)]`, or they would be compiled without them.
pub(crate) trait Task {
    /// What it returns.
    type Output;

    /// Runs the task.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// A vector unit that this machine has.
///
/// It can only be obtained by detection, so holding one proves that its instructions may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct VectorUnit(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    Scalar,
}

impl VectorUnit {
    /// The fastest unit of this machine.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// All units of this machine, fastest first. The last is `scalar`, which every machine has.
    pub fn available() -> Vec<Self> {
        let units = [
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::detect().map(Kind::Avx512),
            #[cfg(target_arch = "x86_64")]
            avx2::Avx2::detect().map(Kind::Avx2),
            #[cfg(target_arch = "aarch64")]
            neon::Neon::detect().map(Kind::Neon),
            Some(Kind::Scalar),
        ];
        units.into_iter().flatten().map(Self).collect()
    }

    /// `avx512bf16`, `avx2`, `neon` or `scalar`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "avx512bf16",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => "neon",
            Kind::Scalar => "scalar",
        }
    }

    /// Runs `task` with this unit's instructions.
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(unit) => unit.run(task),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(unit) => unit.run(task),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(unit) => task.run(unit),
            Kind::Scalar => task.run(scalar::Scalar),
        }
    }
}

impl fmt::Display for VectorUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A vector unit that this machine does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this machine has no vector unit `{0}`; it has {available}", available = list())]
pub struct VectorUnitError(pub String);

fn list() -> String {
    VectorUnit::available().iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for VectorUnit {
    type Err = VectorUnitError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let found = Self::available().into_iter().find(|unit| unit.name() == s);
        found.ok_or_else(|| VectorUnitError(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_unit_that_is_not_there_is_refused() {
        let error = "avx1024".parse::<VectorUnit>().unwrap_err().to_string();
        assert!(error.contains("`avx1024`") && error.contains("scalar"), "{error}");
    }
}

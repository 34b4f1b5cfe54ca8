//! Reductions in the lanes of a bf16 vector: one order on all vector units of the host.

use half::bf16;

use crate::rounding::widen;

/// Lanes of a reduction: a bf16 vector of the compiler that builds the kernels.
const LANES: usize = 16;

/// Reduces `values` lane by lane, then the lanes by halves. A remainder shorter than a vector is
/// left out: `Op::check` demands whole vectors.
#[inline(always)]
pub(crate) fn reduce(values: &[f32], start: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    reduce_by(values, start, |v| v, combine)
}

/// The sum of `f(x)` over `x`, in the order of [`reduce`].
#[inline(always)]
pub(crate) fn sum_by(x: &[bf16], f: impl Fn(f32) -> f32) -> f32 {
    reduce_by(x, 0.0, |x| f(widen(x)), |a, b| a + b)
}

/// The largest of `x`, NaNs passed over.
#[inline(always)]
pub(crate) fn max(x: &[bf16]) -> f32 {
    reduce_by(x, f32::NEG_INFINITY, widen, f32::max)
}

#[inline(always)]
fn reduce_by<T: Copy>(
    values: &[T],
    start: f32,
    f: impl Fn(T) -> f32,
    combine: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    for part in values.as_chunks::<LANES>().0 {
        for (lane, &v) in lanes.iter_mut().zip(part) {
            *lane = combine(*lane, f(v));
        }
    }
    for width in [8, 4, 2, 1] {
        for lane in 0..width {
            lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
    }
    lanes[0]
}

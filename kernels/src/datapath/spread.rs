//! How the work of a kernel is spread over threads.

use half::bf16;
use rayon::prelude::*;

/// Elements below which a kernel is not worth spreading over threads: waking them takes some
/// microseconds.
pub(crate) const SERIAL: usize = 1 << 15;

/// Elements of a piece of an element-wise kernel: a good fraction of the L1 cache.
pub(crate) const PIECE: usize = 1 << 13;

/// Calls `work` with whole rows of `cols` elements of `x` and `y`.
pub(crate) fn rows(
    cols: usize,
    x: &[bf16],
    y: &mut [bf16],
    work: impl Fn(&[bf16], &mut [bf16]) + Sync,
) {
    if y.len() <= SERIAL {
        return work(x, y);
    }
    let piece = (PIECE / cols).max(1) * cols;
    y.par_chunks_mut(piece).zip(x.par_chunks(piece)).for_each(|(y, x)| work(x, y));
}

/// Calls `work` with the same pieces of `a`, `b` and `out`.
pub(crate) fn pairs(
    [a, b]: [&[bf16]; 2],
    out: &mut [bf16],
    work: impl Fn(&[bf16], &[bf16], &mut [bf16]) + Sync,
) {
    if out.len() <= SERIAL {
        return work(a, b, out);
    }
    let pieces = out.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE).zip(b.par_chunks(PIECE)));
    pieces.for_each(|(out, (a, b))| work(a, b, out));
}

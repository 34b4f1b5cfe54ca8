//! The kernels' datapaths, one a file.

pub(super) mod add;
mod by_rounding;
pub(super) mod flash_attention;
pub(super) mod gemm;
pub(super) mod gemv;
pub(super) mod rms_norm;
pub(super) mod rope;
pub(super) mod silu_mul;

/// Elements below which a kernel is not worth spreading over threads: waking them takes some
/// microseconds.
const SERIAL: usize = 1 << 15;

/// Elements of a piece of an element-wise kernel: a good fraction of the L1 cache.
const PIECE: usize = 1 << 13;

//! The kernels' datapaths, one a file.

pub(super) mod add;
mod by_rounding;
mod exponential;
pub(super) mod flash_attention;
pub(super) mod gelu;
pub(super) mod gemm;
pub(super) mod gemv;
mod lanes;
pub(super) mod layer_norm;
pub(super) mod rms_norm;
pub(super) mod rope;
pub(super) mod row_softmax;
pub(super) mod silu_mul;

pub(super) use exponential::{Exponential, SoftmaxFunctions};

/// Elements below which a kernel is not worth spreading over threads: waking them takes some
/// microseconds.
const SERIAL: usize = 1 << 15;

/// Elements of a piece of an element-wise kernel: a good fraction of the L1 cache.
const PIECE: usize = 1 << 13;

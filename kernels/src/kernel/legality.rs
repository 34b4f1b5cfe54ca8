//! What most kernels ask of their dimensions.

use super::{KernelSpec, OpError};

/// Values of a bf16 vector in code of the compiler.
const VECTOR: usize = 16;
const VECTOR_REASON: &str = "bf16 vectors hold 16 values";

/// Every dimension is at least 1.
pub(crate) fn non_zero(
    kernel: &impl KernelSpec,
    dimensions: &[(&'static str, usize)],
) -> Result<(), OpError> {
    match dimensions.iter().find(|(_, value)| *value == 0) {
        None => Ok(()),
        Some(&(dimension, _)) => {
            Err(OpError::Zero { kernel: name(kernel), shape: kernel.shape_key(), dimension })
        }
    }
}

/// A dimension is a multiple of what the kernel works in.
pub(crate) fn multiple(
    kernel: &impl KernelSpec,
    (dimension, value): (&'static str, usize),
    multiple: usize,
    reason: &'static str,
) -> Result<(), OpError> {
    if value.is_multiple_of(multiple) {
        return Ok(());
    }
    let (kernel, shape) = (name(kernel), kernel.shape_key());
    Err(OpError::NotMultiple { kernel, shape, dimension, value, multiple, reason })
}

/// A dimension is a whole number of vectors of the compiler's own code.
pub(crate) fn vectors(
    kernel: &impl KernelSpec,
    dimension: (&'static str, usize),
) -> Result<(), OpError> {
    multiple(kernel, dimension, VECTOR, VECTOR_REASON)
}

/// The rows and columns of a kernel that takes each row in vectors.
pub(crate) fn rows(kernel: &impl KernelSpec, rows: usize, cols: usize) -> Result<(), OpError> {
    non_zero(kernel, &[("rows", rows), ("cols", cols)])?;
    vectors(kernel, ("cols", cols))
}

/// A shape that is wrong in a way of the kernel's own.
pub(crate) fn unsupported(kernel: &impl KernelSpec, reason: String) -> OpError {
    OpError::Unsupported { kernel: name(kernel), shape: kernel.shape_key(), reason }
}

fn name<K: KernelSpec>(_: &K) -> &'static str {
    K::NAME
}

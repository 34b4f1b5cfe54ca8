//! What can be wrong with an op or its inputs.

use crate::dtype::DType;

/// An op that no kernel can run, or inputs that do not match the op.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// A dimension is zero.
    #[error("{kernel} {shape}: {dimension} is zero; every dimension must be at least 1")]
    Zero {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Name of the dimension.
        dimension: &'static str,
    },
    /// A dimension is not a multiple of what the kernel works in.
    #[error("{kernel} {shape}: {dimension} = {value} is not a multiple of {multiple} ({reason})")]
    NotMultiple {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Name of the dimension.
        dimension: &'static str,
        /// Its value.
        value: usize,
        /// What it must be a multiple of.
        multiple: usize,
        /// Why.
        reason: &'static str,
    },
    /// A shape that no kernel is built for, for a reason of the kernel's own.
    #[error("{kernel} {shape}: {reason}")]
    Unsupported {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// What is wrong with it, with its numbers.
        reason: String,
    },
    /// A wrong number of inputs.
    #[error("{kernel} {shape} reads {expected} operands but {found} were given")]
    InputCount {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Operands that the op reads.
        expected: usize,
        /// Tensors that were given.
        found: usize,
    },
    /// An input of the wrong type or shape.
    #[error(
        "{kernel} {shape} reads {operand} as {dtype}{expected:?} but {found_dtype}{found:?} was given"
    )]
    Input {
        /// Kernel name.
        kernel: &'static str,
        /// Shape key.
        shape: String,
        /// Operand name.
        operand: &'static str,
        /// Type of the operand.
        dtype: DType,
        /// Shape of the operand.
        expected: Vec<usize>,
        /// Type that was given.
        found_dtype: DType,
        /// Shape that was given.
        found: Vec<usize>,
    },
}

//! The operands of a kernel in argument order.

use crate::dtype::DType;

/// Whether a kernel reads or writes an operand. No kernel does both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// The kernel reads the operand and leaves it as it was.
    Read,
    /// The kernel writes every element of the operand.
    Write,
}

/// One operand of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Name within the kernel: `a`, `b`, `c`, `x`, ...
    pub name: &'static str,
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// Direction.
    pub access: Access,
}

impl Operand {
    /// A bf16 operand that the kernel reads.
    pub(crate) fn read(name: &'static str, shape: impl Into<Vec<usize>>) -> Self {
        Self { name, dtype: DType::Bf16, shape: shape.into(), access: Access::Read }
    }

    /// A bf16 operand that the kernel writes.
    pub(crate) fn write(name: &'static str, shape: impl Into<Vec<usize>>) -> Self {
        Self { access: Access::Write, ..Self::read(name, shape) }
    }
}

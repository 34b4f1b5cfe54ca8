//! The operands of a kernel in argument order.

use super::{Add, FlashAttention, Gemm, GemmOutput, Gemv, Op, RmsNorm, Rope, SiluMul};
use crate::DType;

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

fn read(name: &'static str, shape: impl Into<Vec<usize>>) -> Operand {
    Operand { name, dtype: DType::Bf16, shape: shape.into(), access: Access::Read }
}

fn write(name: &'static str, shape: impl Into<Vec<usize>>) -> Operand {
    Operand { name, dtype: DType::Bf16, shape: shape.into(), access: Access::Write }
}

impl Op {
    /// The operands in argument order: those read first, the one written last.
    pub fn operands(&self) -> Vec<Operand> {
        match *self {
            Self::Gemm(Gemm { m, k, n, output }) => {
                let dtype = match output {
                    GemmOutput::F32 => DType::F32,
                    GemmOutput::Drain | GemmOutput::FusedCast | GemmOutput::Direct => DType::Bf16,
                };
                vec![read("a", [m, k]), read("b", [k, n]), Operand { dtype, ..write("c", [m, n]) }]
            }
            Self::Gemv(Gemv { m, k }) => vec![read("a", [m, k]), read("x", [k]), write("y", [m])],
            Self::RmsNorm(RmsNorm { rows, cols, .. }) => {
                vec![read("x", [rows, cols]), read("w", [cols]), write("y", [rows, cols])]
            }
            Self::Rope(Rope { tokens, heads, head_dim }) => vec![
                read("x", [tokens, heads * head_dim]),
                read("lut", [tokens, head_dim]),
                write("y", [tokens, heads * head_dim]),
            ],
            Self::FlashAttention(FlashAttention { tokens, heads, kv_heads, head_dim, .. }) => vec![
                read("q", [tokens, heads * head_dim]),
                read("k", [tokens, kv_heads * head_dim]),
                read("v", [tokens, kv_heads * head_dim]),
                write("o", [tokens, heads * head_dim]),
            ],
            Self::SiluMul(SiluMul { rows, cols }) => vec![
                read("gate", [rows, cols]),
                read("up", [rows, cols]),
                write("out", [rows, cols]),
            ],
            Self::Add(Add { rows, cols }) => {
                vec![read("a", [rows, cols]), read("b", [rows, cols]), write("out", [rows, cols])]
            }
        }
    }
}

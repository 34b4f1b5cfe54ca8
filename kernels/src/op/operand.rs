//! The operands of a kernel in argument order.

use super::{
    Add, AttentionLayout, FlashAttention, Gelu, Gemm, Gemv, LayerNorm, Op, RmsNorm, Rope, SiluMul,
    Softmax,
};
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
                let dtype = output.dtype();
                vec![read("a", [m, k]), read("b", [k, n]), Operand { dtype, ..write("c", [m, n]) }]
            }
            Self::Gemv(Gemv { m, k }) => vec![read("a", [m, k]), read("x", [k]), write("y", [m])],
            Self::RmsNorm(RmsNorm { rows, cols, .. }) => {
                vec![read("x", [rows, cols]), read("w", [cols]), write("y", [rows, cols])]
            }
            Self::Rope(Rope { tokens, heads, head_dim, rotary_dim }) => vec![
                read("x", [tokens, heads * head_dim]),
                read("lut", [tokens, rotary_dim]),
                write("y", [tokens, heads * head_dim]),
            ],
            Self::FlashAttention(op) => {
                let (queries, keys) = (op.shape_of(op.heads), op.shape_of(op.kv_heads));
                vec![
                    read("q", queries.clone()),
                    read("k", keys.clone()),
                    read("v", keys),
                    write("o", queries),
                ]
            }
            Self::SiluMul(SiluMul { rows, cols }) => vec![
                read("gate", [rows, cols]),
                read("up", [rows, cols]),
                write("out", [rows, cols]),
            ],
            Self::Add(Add { rows, cols }) => {
                vec![read("a", [rows, cols]), read("b", [rows, cols]), write("out", [rows, cols])]
            }
            Self::LayerNorm(LayerNorm { rows, cols, .. }) => {
                vec![read("x", [rows, cols]), read("wb", [2 * cols]), write("y", [rows, cols])]
            }
            Self::Gelu(Gelu { rows, cols }) | Self::Softmax(Softmax { rows, cols }) => {
                vec![read("x", [rows, cols]), write("y", [rows, cols])]
            }
        }
    }
}

impl FlashAttention {
    /// The shape of an operand of so many heads.
    fn shape_of(&self, heads: usize) -> Vec<usize> {
        match self.layout {
            AttentionLayout::SeqFirst => vec![self.tokens, heads * self.head_dim],
            AttentionLayout::HeadsFirst => vec![heads, self.tokens, self.head_dim],
        }
    }
}

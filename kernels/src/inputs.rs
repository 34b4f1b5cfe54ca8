//! Seeded inputs to test an op with.

use half::bf16;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use rand_distr::{Distribution, StandardNormal};

pub use crate::kernel::EXACT_K;
use crate::{
    kernel::{Access, KernelSpec},
    op::{Op, with_kernel, with_op},
    tensor::{Tensor, TensorData},
};

/// What to draw inputs from. The same draw of the same op gives the same inputs on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Draw {
    /// Signed normal values at the scale that the registry's harnesses use: `1 / sqrt(K)` for GEMM,
    /// 4 for GEMV, 1 otherwise; a `RoPE` table of theta 500,000 at positions `0..tokens`. (The
    /// registry's own values come from numpy's generators and are not repeated here.)
    Registry {
        /// Seed.
        seed: u64,
    },
    /// Values in {-1, 0, 1}, of which a product along K has at most [`EXACT_K`] that are not zero.
    Integers {
        /// Seed.
        seed: u64,
    },
}

/// Whether `op` on [`Draw::Integers`] must equal the f32 reference bit for bit, in every rounding
/// mode.
///
/// True for kernels that only add and multiply: their products and partial sums are integers of
/// magnitude at most 256, exact in bf16 and in BFP16. A difference is then a fault of indexing, not
/// of arithmetic.
pub fn exact_integers(op: &Op) -> bool {
    with_kernel!(op.kind(), Spec => Spec::EXACT_INTEGERS)
}

/// Draws the operands that `op` reads, in argument order.
pub fn draw(op: &Op, draw: Draw) -> Vec<Tensor> {
    with_op!(op, kernel => draw_kernel(kernel, draw))
}

fn draw_kernel(kernel: &impl KernelSpec, draw: Draw) -> Vec<Tensor> {
    let (Draw::Registry { seed } | Draw::Integers { seed }) = draw;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let operands = kernel.operands().into_iter().filter(|operand| operand.access == Access::Read);
    operands
        .map(|operand| {
            let len = operand.shape.iter().product();
            let values = match draw {
                Draw::Registry { .. } => {
                    let computed = kernel.computed_input(operand.name);
                    computed.unwrap_or_else(|| normal(&mut rng, len, kernel.scale()))
                }
                Draw::Integers { .. } => {
                    let mut values = integers(&mut rng, len);
                    let zeros = values.iter_mut().skip(kernel.nonzero_integers(operand.name));
                    zeros.for_each(|value| *value = bf16::ZERO);
                    values
                }
            };
            Tensor::from_parts(operand.shape, TensorData::Bf16(values.into()))
        })
        .collect()
}

fn normal(rng: &mut ChaCha8Rng, len: usize, scale: f32) -> Vec<bf16> {
    (0..len)
        .map(|_| {
            let x: f32 = StandardNormal.sample(rng);
            bf16::from_f32(x * scale)
        })
        .collect()
}

fn integers(rng: &mut ChaCha8Rng, len: usize) -> Vec<bf16> {
    let value = |r: u32| [bf16::NEG_ONE, bf16::ZERO, bf16::ONE][(r % 3) as usize];
    (0..len).map(|_| value(rng.next_u32())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Add;

    fn values(op: &Op, draw: Draw) -> Vec<Vec<f32>> {
        super::draw(op, draw).iter().map(Tensor::to_f32).collect()
    }

    #[test]
    fn a_seed_determines_the_inputs() {
        let op = Op::Add(Add { rows: 3, cols: 5 });
        let of = |seed| values(&op, Draw::Registry { seed });
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let first = of(1);
        assert_ne!(first[0], first[1], "operands are drawn one after another");
    }

    #[test]
    fn registry_inputs_are_signed_and_of_unit_size() {
        let op = Op::Add(Add { rows: 64, cols: 256 });
        for values in values(&op, Draw::Registry { seed: 3 }) {
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let square = values.iter().map(|x| x * x).sum::<f32>() / values.len() as f32;
            assert!(mean.abs() < 0.1, "mean {mean}");
            assert!((square.sqrt() - 1.0).abs() < 0.1, "{square}");
        }
    }
}

//! Seeded inputs to test an op with.

use half::bf16;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use rand_distr::{Distribution, StandardNormal};

use crate::{Access, Gemm, Gemv, Op, Rope, Tensor, TensorData};

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

/// Base of the `RoPE` angles in the registry's harness.
const ROPE_THETA: f64 = 500_000.0;

/// Terms of a dot product of {-1, 0, 1} whose partial sums are all exact in bf16 (8 significant
/// bits).
pub const EXACT_K: usize = 256;

/// Whether `op` on [`Draw::Integers`] must equal the f32 reference bit for bit, whatever the
/// rounding mode.
///
/// True for GEMM and GEMV, whose products and partial sums are integers of magnitude at most 256,
/// for `RoPE` and for add, whose results are integers of magnitude at most 2: all are exact in bf16
/// and in BFP16. A difference is then a fault of indexing, not of arithmetic.
pub fn exact_integers(op: &Op) -> bool {
    match op {
        Op::Gemm(_) | Op::Gemv(_) | Op::Rope(_) | Op::Add(_) => true,
        Op::RmsNorm(_)
        | Op::FlashAttention(_)
        | Op::SiluMul(_)
        | Op::LayerNorm(_)
        | Op::Gelu(_)
        | Op::Softmax(_) => false,
    }
}

/// Draws the operands that `op` reads, in argument order.
pub fn draw(op: &Op, draw: Draw) -> Vec<Tensor> {
    let (Draw::Registry { seed } | Draw::Integers { seed }) = draw;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let operands = op.operands().into_iter().filter(|operand| operand.access == Access::Read);
    operands
        .map(|operand| {
            let len = operand.shape.iter().product();
            let values: Vec<bf16> = match (draw, op) {
                (Draw::Registry { .. }, Op::Rope(rope)) if operand.name == "lut" => {
                    rope_table(rope)
                }
                (Draw::Registry { .. }, _) => normal(&mut rng, len, scale(op)),
                (Draw::Integers { .. }, _) => {
                    let mut values = integers(&mut rng, len);
                    limit_k(op, operand.name, &mut values);
                    values
                }
            };
            Tensor::from_parts(operand.shape, TensorData::Bf16(values.into()))
        })
        .collect()
}

fn scale(op: &Op) -> f32 {
    match *op {
        Op::Gemm(Gemm { k, .. }) => 1.0 / (k as f32).sqrt(),
        Op::Gemv(_) => 4.0,
        _ => 1.0,
    }
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

/// Clears one factor of each product beyond the first [`EXACT_K`] along K.
fn limit_k(op: &Op, operand: &str, values: &mut [bf16]) {
    match (op, operand) {
        (Op::Gemm(Gemm { n, .. }), "b") => {
            values.iter_mut().skip(EXACT_K * n).for_each(|v| *v = bf16::ZERO);
        }
        (Op::Gemv(Gemv { .. }), "x") => {
            values.iter_mut().skip(EXACT_K).for_each(|v| *v = bf16::ZERO);
        }
        _ => {}
    }
}

/// Angles in f64, cosine and sine narrowed to bf16 through f32, as the registry's harness does.
fn rope_table(rope: &Rope) -> Vec<bf16> {
    let half = rope.rotary_dim / 2;
    let frequency = |i: usize| ROPE_THETA.powf(-2.0 * i as f64 / rope.rotary_dim as f64);
    let narrow = |x: f64| bf16::from_f32(x as f32);
    (0..rope.tokens)
        .flat_map(|token| {
            let angle = move |i: usize| token as f64 * frequency(i);
            let cosines = (0..half).map(move |i| narrow(angle(i).cos()));
            cosines.chain((0..half).map(move |i| narrow(angle(i).sin())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Add, Gelu, GemmOutput, LayerNorm, Softmax};

    fn gemm(k: usize) -> Op {
        Op::Gemm(Gemm { m: 32, k, n: 24, output: GemmOutput::Drain })
    }

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
    fn registry_inputs_are_signed_and_of_the_registrys_scale() {
        for (op, expected) in [
            (gemm(1024), 1.0 / 32.0),
            (Op::Gemv(Gemv { m: 64, k: 1024 }), 4.0),
            (Op::Add(Add { rows: 64, cols: 256 }), 1.0),
            (Op::LayerNorm(LayerNorm { rows: 64, cols: 1024, eps: 1e-5 }), 1.0),
            (Op::Gelu(Gelu { rows: 64, cols: 256 }), 1.0),
            (Op::Softmax(Softmax { rows: 64, cols: 256 }), 1.0),
        ] {
            for values in values(&op, Draw::Registry { seed: 3 }) {
                let mean = values.iter().sum::<f32>() / values.len() as f32;
                let square = values.iter().map(|x| x * x).sum::<f32>() / values.len() as f32;
                assert!(mean.abs() < 0.1 * expected, "{}: mean {mean}", op.kernel());
                assert!((square.sqrt() / expected - 1.0).abs() < 0.1, "{}: {square}", op.kernel());
            }
        }
    }

    #[test]
    fn the_rope_table_holds_cosines_then_sines_of_each_position() {
        let rope = Op::Rope(Rope { tokens: 3, heads: 2, head_dim: 32, rotary_dim: 16 });
        let lut = &values(&rope, Draw::Registry { seed: 0 })[1];
        // As wide as what is rotated, whose frequencies it has.
        assert_eq!(lut.len(), 3 * 16);
        assert_eq!(lut[..16], [[1.0; 8], [0.0; 8]].concat());
        // Position 2, frequency 0: cos 2 = -0.41615 and sin 2 = 0.90930, narrowed.
        assert_eq!((lut[32], lut[40]), (-0.416_015_63, 0.910_156_25));
        // Frequency 1 of 8: 500,000^(-1/8) = 0.193923; cos and sin of twice that.
        assert_eq!((lut[33], lut[41]), (0.925_781_25, 0.378_906_25));
    }

    #[test]
    fn integer_inputs_leave_at_most_256_terms_along_k() {
        let inputs = values(&gemm(576), Draw::Integers { seed: 4 });
        assert!(inputs.iter().flatten().all(|x| [-1.0, 0.0, 1.0].contains(x)));
        assert!(inputs[1][..EXACT_K * 24].iter().any(|&x| x != 0.0));
        assert!(inputs[1][EXACT_K * 24..].iter().all(|&x| x == 0.0));
    }
}

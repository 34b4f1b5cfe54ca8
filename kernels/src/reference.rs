//! Each op in f32, from the same bf16 inputs: what a kernel is compared with.
//!
//! This is the registry's reference: no BFP16, no narrowing inside. Compare f32 outputs with it as
//! it is, bf16 outputs with it narrowed to nearest even.

mod attention;
mod product;

use rayon::prelude::*;

use crate::{
    Access, Add, Gelu, Gemm, Gemv, LayerNorm, Op, OpError, RmsNorm, Rope, SiluMul, Softmax, Tensor,
};
use product::product;

/// Computes `op` on `inputs`: the operands it reads, in argument order.
///
/// GEMM sums in f32 (as a CPU's BLAS), GEMV, the norms and the softmax in f64; the result is the
/// op's one output, row-major.
///
/// # Errors
/// If the op is illegal ([`Op::check`]) or `inputs` are not its operands.
pub fn run(op: &Op, inputs: &[Tensor]) -> Result<Vec<f32>, OpError> {
    op.check()?;
    check_inputs(op, inputs)?;
    let values: Vec<Vec<f32>> = inputs.iter().map(Tensor::to_f32).collect();
    Ok(match (op, values.as_slice()) {
        (Op::Gemm(gemm), [a, b]) => self::gemm(gemm, a, b),
        (Op::Gemv(gemv), [a, x]) => self::gemv(gemv, a, x),
        (Op::RmsNorm(norm), [x, w]) => rms_norm(norm, x, w),
        (Op::Rope(rope), [x, lut]) => self::rope(rope, x, lut),
        (Op::FlashAttention(op), [q, k, v]) => attention::attention(op, q, k, v),
        (Op::SiluMul(SiluMul { .. }), [gate, up]) => {
            gate.par_iter().zip(up).map(|(&g, &u)| silu(g) * u).collect()
        }
        (Op::Add(Add { .. }), [a, b]) => a.par_iter().zip(b).map(|(a, b)| a + b).collect(),
        (Op::LayerNorm(norm), [x, wb]) => layer_norm(norm, x, wb),
        (Op::Gelu(Gelu { .. }), [x]) => x.par_iter().map(|&x| gelu(x)).collect(),
        (Op::Softmax(Softmax { cols, .. }), [x]) => {
            let mut y = x.clone();
            y.par_chunks_mut(*cols).for_each(attention::softmax);
            y
        }
        // `check_inputs` has compared the number of inputs with the op's.
        _ => unreachable!("the number of inputs was checked"),
    })
}

fn check_inputs(op: &Op, inputs: &[Tensor]) -> Result<(), OpError> {
    let operands: Vec<_> =
        op.operands().into_iter().filter(|operand| operand.access == Access::Read).collect();
    if operands.len() != inputs.len() {
        return Err(OpError::InputCount {
            kernel: op.kernel(),
            shape: op.shape_key(),
            expected: operands.len(),
            found: inputs.len(),
        });
    }
    for (operand, input) in operands.into_iter().zip(inputs) {
        if operand.dtype != input.dtype()
            || !crate::program::same_memory(&operand.shape, input.shape())
        {
            return Err(OpError::Input {
                kernel: op.kernel(),
                shape: op.shape_key(),
                operand: operand.name,
                dtype: operand.dtype,
                expected: operand.shape,
                found_dtype: input.dtype(),
                found: input.shape().to_vec(),
            });
        }
    }
    Ok(())
}

fn gemm(gemm: &Gemm, a: &[f32], b: &[f32]) -> Vec<f32> {
    let &Gemm { m, k, n, .. } = gemm;
    let mut c = vec![0.0; m * n];
    product(m, k, n, (a, k as isize, 1), (b, n as isize, 1), &mut c);
    c
}

fn gemv(gemv: &Gemv, a: &[f32], x: &[f32]) -> Vec<f32> {
    let dot = |row: &[f32]| -> f64 {
        row.iter().zip(x).map(|(&a, &x)| f64::from(a) * f64::from(x)).sum()
    };
    a.par_chunks(gemv.k).map(|row| dot(row) as f32).collect()
}

fn rms_norm(norm: &RmsNorm, x: &[f32], w: &[f32]) -> Vec<f32> {
    let cols = norm.cols;
    let mut y = vec![0.0; x.len()];
    y.par_chunks_mut(cols).zip(x.par_chunks(cols)).for_each(|(y, x)| {
        let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let scale = 1.0 / (squares / cols as f64 + f64::from(norm.eps)).sqrt();
        for ((y, &x), &w) in y.iter_mut().zip(x).zip(w) {
            *y = (f64::from(x) * scale * f64::from(w)) as f32;
        }
    });
    y
}

fn rope(rope: &Rope, x: &[f32], lut: &[f32]) -> Vec<f32> {
    let &Rope { heads, head_dim, rotary_dim, .. } = rope;
    let half = rotary_dim / 2;
    let mut y = x.to_vec();
    y.par_chunks_mut(heads * head_dim).zip(lut.par_chunks(rotary_dim)).for_each(|(y, lut)| {
        let (cosines, sines) = lut.split_at(half);
        for head in y.chunks_mut(head_dim) {
            for i in 0..half {
                let (a, b) = (head[i], head[i + half]);
                head[i] = a * cosines[i] - b * sines[i];
                head[i + half] = a * sines[i] + b * cosines[i];
            }
        }
    });
    y
}

fn layer_norm(norm: &LayerNorm, x: &[f32], wb: &[f32]) -> Vec<f32> {
    let cols = norm.cols;
    let (w, b) = wb.split_at(cols);
    let mut y = vec![0.0; x.len()];
    y.par_chunks_mut(cols).zip(x.par_chunks(cols)).for_each(|(y, x)| {
        let mean = x.iter().copied().map(f64::from).sum::<f64>() / cols as f64;
        let squares = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>();
        let scale = 1.0 / (squares / cols as f64 + f64::from(norm.eps)).sqrt();
        for ((y, &x), (&w, &b)) in y.iter_mut().zip(x).zip(w.iter().zip(b)) {
            *y = ((f64::from(x) - mean) * scale * f64::from(w) + f64::from(b)) as f32;
        }
    });
    y
}

/// The constants are those of the paper's approximation (Hendrycks and Gimpel, 2016).
fn gelu(x: f32) -> f32 {
    const INNER: f32 = 0.797_884_6; // sqrt(2 / pi)
    0.5 * x * (1.0 + (INNER * (x + 0.044_715 * x * x * x)).tanh())
}

fn silu(x: f32) -> f32 {
    x / (1.0 + (-x).exp())
}

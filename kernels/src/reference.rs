//! Each op in f32, from the same bf16 inputs: what a kernel is compared with.
//!
//! This is the registry's reference: no BFP16, no narrowing inside. Compare f32 outputs with it as
//! it is, bf16 outputs with it narrowed to nearest even.

use crate::{
    kernel::{Access, Inputs, KernelSpec, OpError},
    op::{Op, with_op},
    program::same_memory,
    tensor::Tensor,
};

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
    Ok(with_op!(op, kernel => kernel.reference(Inputs(&values))))
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
        if operand.dtype != input.dtype() || !same_memory(&operand.shape, input.shape()) {
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

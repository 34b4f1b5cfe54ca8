//! Tensors between the device and the checks.

use half::bf16;
use npugate::RunError;
use npugate_kernels::{DType, Tensor, TensorError};

/// A tensor of the checks as the device takes it. A bf16 tensor holds values that are exact in
/// bf16; any other value is rounded to nearest even.
///
/// # Errors
///
/// If the number of the tensor's values does not match its shape.
pub fn to_device(tensor: &npugate::Tensor) -> Result<Tensor, TensorError> {
    let (shape, values) = (tensor.shape(), tensor.values());
    match tensor.dtype() {
        npugate::DType::Bf16 => {
            let values: Vec<bf16> = values.iter().map(|value| bf16::from_f32(*value)).collect();
            Tensor::bf16(shape, values)
        }
        npugate::DType::F32 => Tensor::f32(shape, values),
    }
}

/// A tensor of the device as the checks take it.
///
/// # Errors
///
/// If the number of the tensor's values does not match its shape.
pub fn to_harness(tensor: &Tensor) -> Result<npugate::Tensor, RunError> {
    Ok(npugate::Tensor::new(tensor.shape(), dtype(tensor.dtype()), tensor.to_f32())?)
}

/// An element type as the checks name it.
pub(crate) fn dtype(dtype: DType) -> npugate::DType {
    match dtype {
        DType::Bf16 => npugate::DType::Bf16,
        DType::F32 => npugate::DType::F32,
    }
}

/// Drawn inputs as the checks take them. They have as many values as their shapes say. If that were
/// ever wrong, it must not look like a kernel without such inputs.
pub(crate) fn drawn_to_harness(tensor: &Tensor) -> npugate::Tensor {
    match to_harness(tensor) {
        Ok(tensor) => tensor,
        Err(error) => unreachable!("a drawn tensor contradicts itself: {error}"),
    }
}

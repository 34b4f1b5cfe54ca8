//! Converts tensors between the device and the checks.

use half::bf16;
use npugate::RunError;
use npugate_kernels::{DType, Tensor, TensorData, TensorError};

/// Converts a tensor of the checks to one of the device. The values of a bf16
/// tensor are exact in bf16; any that is not is rounded to nearest even.
pub(crate) fn to_device(tensor: &npugate::Tensor) -> Result<Tensor, TensorError> {
    let (shape, values) = (tensor.shape(), tensor.values());
    match tensor.dtype() {
        npugate::DType::Bf16 => {
            let values: Vec<bf16> = values.iter().map(|value| bf16::from_f32(*value)).collect();
            Tensor::bf16(shape, values)
        }
        npugate::DType::F32 => Tensor::f32(shape, values),
    }
}

/// Converts a tensor of the device to one of the checks.
pub(crate) fn to_harness(tensor: &Tensor) -> Result<npugate::Tensor, RunError> {
    let dtype = match tensor.dtype() {
        DType::Bf16 => npugate::DType::Bf16,
        DType::F32 => npugate::DType::F32,
    };
    let values = match tensor.data() {
        TensorData::Bf16(values) => values.iter().map(|value| widen(*value)).collect(),
        TensorData::F32(values) => values.to_vec(),
    };
    Ok(npugate::Tensor::new(tensor.shape(), dtype, values)?)
}

/// Converts drawn inputs to tensors of the checks. They have as many values as
/// their shapes say. If that were ever wrong, it must not be mistaken for a
/// kernel without such inputs.
pub(crate) fn drawn_to_harness(tensor: &Tensor) -> npugate::Tensor {
    match to_harness(tensor) {
        Ok(tensor) => tensor,
        Err(error) => unreachable!("a drawn tensor contradicts itself: {error}"),
    }
}

/// Widens a bf16 value to f32, which is exact. This avoids the branch that
/// `bf16::to_f32` has for signalling NaNs, so that loops over it are vectorised.
pub(crate) fn widen(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

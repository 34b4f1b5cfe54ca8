//! Converts tensors between the host, the device and the checks.

use super::RunnerError;
use half::bf16;
use npugate::DType;
use npugate_kernels::Tensor as DeviceTensor;

/// Widens a bf16 value to f32, which is exact. Written without the branch that `bf16::to_f32` has
/// for signalling NaNs, so that loops over it are vectorised.
pub(super) fn widen(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

/// Returns the values of a buffer that the device returned.
pub(super) fn values<'a>(
    tensor: &'a DeviceTensor,
    arg: &'static str,
) -> Result<&'a [bf16], RunnerError> {
    tensor.as_bf16().ok_or_else(|| RunnerError::WrongDType { arg, found: tensor.dtype() })
}

/// Converts bf16 rows to a tensor of the checks.
pub(super) fn to_harness(rows: &[bf16], width: usize) -> Result<npugate::Tensor, RunnerError> {
    let values = rows.iter().map(|value| widen(*value)).collect();
    Ok(npugate::Tensor::new([rows.len() / width, width], DType::Bf16, values)?)
}

/// Converts the first `positions` rows of a buffer that the device returned to a
/// tensor of the checks, without the padding.
pub(super) fn first_rows(
    tensor: &DeviceTensor,
    arg: &'static str,
    positions: usize,
) -> Result<npugate::Tensor, RunnerError> {
    let rows = tensor.shape().first().copied().unwrap_or(1);
    let width = tensor.len() / rows;
    to_harness(&values(tensor, arg)?[..positions * width], width)
}

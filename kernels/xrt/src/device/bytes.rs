//! Tensors as the bytes of a buffer: little-endian, row by row.

use half::bf16;
use npugate_kernels::{Arg, DType, DeviceError, Tensor, TensorData, TensorError};

/// The byte that fills a buffer before anything is written to it: NaN in every type.
pub(super) const POISON: u8 = 0xff;

/// The size in bytes of an argument's buffer.
pub(super) fn size(arg: &Arg) -> usize {
    arg.len() * arg.dtype.size()
}

/// The bytes of a tensor.
pub(super) fn of(tensor: &Tensor) -> Vec<u8> {
    match tensor.data() {
        TensorData::Bf16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        TensorData::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// The tensor of an argument from its bytes.
pub(super) fn tensor(arg: &Arg, bytes: &[u8]) -> Result<Tensor, TensorError> {
    match arg.dtype {
        DType::Bf16 => {
            let (values, _) = bytes.as_chunks::<2>();
            let values: Vec<bf16> =
                values.iter().map(|&value| bf16::from_le_bytes(value)).collect();
            Tensor::bf16(arg.shape.clone(), values)
        }
        DType::F32 => {
            let (values, _) = bytes.as_chunks::<4>();
            let values: Vec<f32> = values.iter().map(|&value| f32::from_le_bytes(value)).collect();
            Tensor::f32(arg.shape.clone(), values)
        }
    }
}

/// An error in this project itself: the bytes of a buffer are not a tensor.
pub(super) fn no_tensor(device: &str, error: TensorError) -> DeviceError {
    DeviceError::Backend {
        device: device.to_owned(),
        message: error.to_string(),
        source: Some(Box::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use npugate_kernels::Role;

    use super::*;

    fn arg(dtype: DType) -> Arg {
        Arg { name: "x".into(), dtype, shape: vec![1, 2], role: Role::Input }
    }

    #[test]
    fn a_tensor_survives_its_bytes() {
        let values = [1.5, -3.0].map(bf16::from_f32);
        let bytes = of(&Tensor::bf16([1, 2], values.to_vec()).unwrap());
        // 1.5 is 0x3fc0, -3 is 0xc040: the upper halves of their binary32.
        assert_eq!(bytes, [0xc0, 0x3f, 0x40, 0xc0]);
        assert_eq!(tensor(&arg(DType::Bf16), &bytes).unwrap().as_bf16(), Some(&values[..]));
        let bytes = of(&Tensor::f32([1, 2], vec![1.0, 0.5]).unwrap());
        assert_eq!(bytes, [0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f]);
        assert_eq!(tensor(&arg(DType::F32), &bytes).unwrap().as_f32(), Some(&[1.0, 0.5][..]));
    }

    #[test]
    fn poison_is_not_a_number_in_every_type() {
        for dtype in [DType::Bf16, DType::F32] {
            let poisoned = tensor(&arg(dtype), &vec![POISON; size(&arg(dtype))]).unwrap();
            assert!(poisoned.to_f32().iter().all(|value| value.is_nan()), "{dtype}");
        }
    }

    #[test]
    fn too_few_bytes_are_not_a_tensor() {
        assert!(tensor(&arg(DType::F32), &[0; 4]).is_err());
    }
}

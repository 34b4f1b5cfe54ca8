//! A dense, row-major, immutable tensor on the host.

use std::sync::Arc;

use half::bf16;

use crate::DType;

/// The values of a [`Tensor`], shared between its clones.
#[derive(Clone, Debug)]
pub enum TensorData {
    /// bfloat16 values.
    Bf16(Arc<[bf16]>),
    /// f32 values.
    F32(Arc<[f32]>),
}

/// A dense, row-major, immutable tensor: what the host writes to a device and reads back.
///
/// A clone copies the shape and shares the values.
#[derive(Clone, Debug)]
pub struct Tensor {
    shape: Vec<usize>,
    data: TensorData,
}

/// A shape and a number of values that do not belong together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a tensor of shape {shape:?} holds {expected} values but {found} were given; \
     pass one value per element"
)]
pub struct TensorError {
    /// The shape that was asked for.
    pub shape: Vec<usize>,
    /// Its number of elements (saturating).
    pub expected: usize,
    /// How many values were given.
    pub found: usize,
}

impl Tensor {
    /// A bf16 tensor of `shape` from its values in row-major order.
    ///
    /// # Errors
    /// If the number of values is not the product of the shape.
    pub fn bf16(
        shape: impl Into<Vec<usize>>,
        values: impl Into<Arc<[bf16]>>,
    ) -> Result<Self, TensorError> {
        let (shape, values) = (shape.into(), values.into());
        check_len(&shape, values.len())?;
        Ok(Self { shape, data: TensorData::Bf16(values) })
    }

    /// An f32 tensor of `shape` from its values in row-major order.
    ///
    /// # Errors
    /// If the number of values is not the product of the shape.
    pub fn f32(
        shape: impl Into<Vec<usize>>,
        values: impl Into<Arc<[f32]>>,
    ) -> Result<Self, TensorError> {
        let (shape, values) = (shape.into(), values.into());
        check_len(&shape, values.len())?;
        Ok(Self { shape, data: TensorData::F32(values) })
    }

    /// For values whose number is known to be right.
    pub(crate) fn from_parts(shape: Vec<usize>, data: TensorData) -> Self {
        let tensor = Self { shape, data };
        debug_assert_eq!(tensor.len(), tensor.shape.iter().product::<usize>());
        tensor
    }

    /// Extent of each dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        match self.data {
            TensorData::Bf16(_) => DType::Bf16,
            TensorData::F32(_) => DType::F32,
        }
    }

    /// The values, row-major.
    pub fn data(&self) -> &TensorData {
        &self.data
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            TensorData::Bf16(v) => v.len(),
            TensorData::F32(v) => v.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of the values in bytes.
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype().size()
    }

    /// The values widened to f32 (exact for both types).
    pub fn to_f32(&self) -> Vec<f32> {
        match &self.data {
            TensorData::Bf16(v) => v.iter().map(|x| x.to_f32()).collect(),
            TensorData::F32(v) => v.to_vec(),
        }
    }

    /// The values of a bf16 tensor.
    pub fn as_bf16(&self) -> Option<&[bf16]> {
        match &self.data {
            TensorData::Bf16(v) => Some(v),
            TensorData::F32(_) => None,
        }
    }

    /// The values of an f32 tensor.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.data {
            TensorData::Bf16(_) => None,
            TensorData::F32(v) => Some(v),
        }
    }
}

fn check_len(shape: &[usize], found: usize) -> Result<(), TensorError> {
    let expected = shape.iter().fold(1, |n: usize, &d| n.saturating_mul(d));
    if expected == found {
        Ok(())
    } else {
        Err(TensorError { shape: shape.to_vec(), expected, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_holds_one_value_per_element() {
        let t = Tensor::f32([2, 3], vec![0.5; 6]).unwrap();
        assert_eq!((t.shape(), t.dtype(), t.len(), t.bytes()), (&[2, 3][..], DType::F32, 6, 24));
        assert!(t.as_bf16().is_none());
    }

    #[test]
    fn a_wrong_number_of_values_is_refused_by_name_of_shape() {
        let e = Tensor::bf16([2, 3], vec![bf16::ONE; 5]).unwrap_err();
        assert_eq!((e.expected, e.found), (6, 5));
        assert!(e.to_string().contains("[2, 3]"), "{e}");
    }

    #[test]
    fn a_clone_shares_its_values() {
        let t = Tensor::bf16([4], vec![bf16::ONE; 4]).unwrap();
        let u = t.clone();
        assert_eq!(t.as_bf16().unwrap().as_ptr(), u.as_bf16().unwrap().as_ptr());
    }
}

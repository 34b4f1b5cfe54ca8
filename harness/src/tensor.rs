//! A tensor as the checks see it: a shape, the dtype that it had on the device, and
//! its values widened to f32 (which is exact for bf16).

use std::fmt;

/// The dtype that a tensor had where it came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DType {
    /// `bfloat16`.
    Bf16,
    /// `float32`.
    F32,
}

impl DType {
    /// A value as this dtype stores it, rounded to nearest.
    pub fn store(self, value: f32) -> f32 {
        match self {
            Self::Bf16 => to_bf16(value),
            Self::F32 => value,
        }
    }
}

/// Rounds to nearest, ties to even, as `half::bf16::from_f32` does, but without its branch
/// for NaN: a comparison stores millions of values, and this function can be vectorised.
fn to_bf16(value: f32) -> f32 {
    const KEPT: u32 = 0xFFFF_0000;
    let bits = value.to_bits();
    let even = (bits >> 16) & 1;
    let rounded = bits.wrapping_add(0x7FFF + even) & KEPT;
    // The quiet bit, so that a NaN with a payload in its lower half stays one.
    let nan = (bits & KEPT) | 0x0040_0000;
    f32::from_bits(if value.is_nan() { nan } else { rounded })
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
        })
    }
}

/// A dense row-major tensor. Its length always equals the product of its shape.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    shape: Vec<usize>,
    dtype: DType,
    values: Vec<f32>,
}

/// The number of values does not fit the shape.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{values} values cannot fill a tensor of shape {shape:?}")]
pub struct TensorError {
    shape: Vec<usize>,
    values: usize,
}

impl Tensor {
    /// A tensor of a shape, a dtype and values.
    ///
    /// # Errors
    ///
    /// A number of values that is not the product of the shape.
    pub fn new(
        shape: impl Into<Vec<usize>>,
        dtype: DType,
        values: Vec<f32>,
    ) -> Result<Self, TensorError> {
        let shape = shape.into();
        if shape.iter().product::<usize>() == values.len() {
            Ok(Self { shape, dtype, values })
        } else {
            Err(TensorError { shape, values: values.len() })
        }
    }

    /// A tensor that was bf16 on the device: `Tensor::bf16([rows, width], values)`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::new`].
    pub fn bf16(shape: impl Into<Vec<usize>>, values: Vec<f32>) -> Result<Self, TensorError> {
        Self::new(shape, DType::Bf16, values)
    }

    /// A tensor that was f32 on the device, such as a reference.
    ///
    /// # Errors
    ///
    /// As [`Tensor::new`].
    pub fn f32(shape: impl Into<Vec<usize>>, values: Vec<f32>) -> Result<Self, TensorError> {
        Self::new(shape, DType::F32, values)
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The dtype that the values had on the device.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The values, row-major.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The values, row-major, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The width of a row: the product of all extents but the first (1 for a
    /// vector).
    pub fn row_len(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// The rows along the first extent: the positions of a `[positions, width]`
    /// tensor.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        // An empty row cannot be chunked; such a tensor has no values either.
        self.values.chunks_exact(self.row_len().max(1))
    }

    /// Only the first rows.
    ///
    /// # Errors
    ///
    /// Fewer rows than asked for.
    pub fn first_rows(&self, rows: usize) -> Result<Self, TensorError> {
        let mut shape = self.shape.clone();
        match shape.first_mut() {
            Some(first) if *first >= rows => *first = rows,
            _ => return Err(TensorError { shape: vec![rows], values: self.values.len() }),
        }
        let values = self.values[..rows * self.row_len()].to_vec();
        Self::new(shape, self.dtype, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;

    #[test]
    fn values_are_stored_as_half_rounds_them() {
        // Every upper half with lower halves around the ties, NaNs and infinities among them.
        for upper in 0..=u16::MAX {
            for lower in [0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF] {
                let value = f32::from_bits(u32::from(upper) << 16 | lower);
                let expected = bf16::from_f32(value).to_f32().to_bits();
                assert_eq!(DType::Bf16.store(value).to_bits(), expected, "{value:?}");
            }
        }
    }
}

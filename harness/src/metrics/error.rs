//! Why two tensors cannot be compared.

use super::Region;
use crate::{DType, Tensor};
use std::fmt;

/// Which side of a comparison is at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What is tested.
    Device,
    /// What it is compared with.
    Reference,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device",
            Self::Reference => "reference",
        })
    }
}

/// The values of a tensor that are NaN or infinite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NonFinite {
    /// Row-major index of the first one.
    pub index: usize,
    /// Its row along the first extent.
    pub row: usize,
    /// Its place in the row.
    pub column: usize,
    /// Its value.
    pub value: f32,
    /// How many there are.
    pub count: usize,
    /// Of how many values.
    pub of: usize,
    /// Where they are.
    pub region: Region,
}

impl fmt::Display for NonFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, column, value, count, of, region, .. } = self;
        write!(f, "{count} of {of} values not finite, ")?;
        if *count > 1 {
            // Buffers that the device should write are filled with NaN first.
            let poison = value.is_nan() && *count == region.area();
            write!(f, "in {region}{}; ", if poison { " (never written?)" } else { "" })?;
        }
        write!(f, "the first is {value} at row {row}, column {column}")
    }
}

/// Why two tensors cannot be compared.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There is nothing to compare.
    #[error("the tensors have no values, so there is nothing to compare")]
    Empty,
    /// The shapes differ.
    #[error("the device's shape is {device:?}, but the reference's is {reference:?}")]
    Shape {
        /// Shape of the device's tensor.
        device: Vec<usize>,
        /// Shape of the reference's tensor.
        reference: Vec<usize>,
    },
    /// The two references that are needed differ in shape.
    #[error("the bf16 reference's shape is {b:?}, but the f32 reference's is {r:?}")]
    ReferenceShape {
        /// Shape of b.
        b: Vec<usize>,
        /// Shape of r.
        r: Vec<usize>,
    },
    /// The device's dtype is not the declared one.
    #[error("the device's values are {device}, but {expected} was declared")]
    DType {
        /// The device's dtype.
        device: DType,
        /// What it should be.
        expected: DType,
    },
    /// There are NaN or infinite values.
    #[error("the {side} has {found}")]
    NonFinite {
        /// Where.
        side: Side,
        /// Which.
        found: NonFinite,
    },
    /// The reference is zero everywhere: any device output would be infinitely wrong or
    /// trivially right.
    #[error("all {0} values of the reference are zero, so it cannot judge")]
    Degenerate(usize),
    /// Rows cannot be cut into heads.
    #[error("rows of {width} values cannot be cut into heads of {head_dim}")]
    Heads {
        /// Width of a row.
        width: usize,
        /// Width of a head.
        head_dim: usize,
    },
}

impl CompareError {
    /// Whether there is no usable reference, so that the check is invalid. Otherwise the
    /// device is at fault, and the check fails.
    pub fn blames_reference(&self) -> bool {
        match self {
            Self::NonFinite { side, .. } => *side == Side::Reference,
            Self::Empty
            | Self::ReferenceShape { .. }
            | Self::Degenerate(_)
            | Self::Heads { .. } => true,
            Self::Shape { .. } | Self::DType { .. } => false,
        }
    }
}

/// The values of a tensor that are NaN or infinite; `None` if all are finite.
pub fn find_non_finite(tensor: &Tensor) -> Option<NonFinite> {
    find_in(tensor.values(), tensor.row_len())
}

fn find_in(values: &[f32], row_len: usize) -> Option<NonFinite> {
    let (index, &value) = values.iter().enumerate().find(|(_, value)| !value.is_finite())?;
    let region = Region::of(values.len(), row_len, |index| !values[index].is_finite())?;
    let row_len = row_len.max(1);
    Some(NonFinite {
        index,
        row: index / row_len,
        column: index % row_len,
        value,
        count: region.count,
        of: values.len(),
        region,
    })
}

/// Checks that a device tensor has the dtype that was declared.
///
/// # Errors
///
/// [`CompareError::DType`].
pub fn expect_dtype(y: &Tensor, expected: DType) -> Result<(), CompareError> {
    if y.dtype() == expected {
        Ok(())
    } else {
        Err(CompareError::DType { device: y.dtype(), expected })
    }
}

/// Checks that `y` and `r` have the same shape, are not empty, and are finite. The
/// device's faults come first, since they are faults for any reference.
pub(super) fn expect_comparable(y: &Tensor, r: &Tensor) -> Result<(), CompareError> {
    expect_same_shape(y, r)?;
    expect_usable(y.values(), y.row_len(), Side::Device)?;
    expect_usable(r.values(), r.row_len(), Side::Reference)
}

/// Checks that `y` and `r` have the same shape.
pub(super) fn expect_same_shape(y: &Tensor, r: &Tensor) -> Result<(), CompareError> {
    if y.shape() == r.shape() {
        return Ok(());
    }
    let (device, reference) = (y.shape().to_vec(), r.shape().to_vec());
    Err(CompareError::Shape { device, reference })
}

/// Checks that a reference is finite once it is stored as the device stores it.
pub(super) fn expect_storable(r: &Tensor, store: impl Fn(f32) -> f32) -> Result<(), CompareError> {
    let stored: Vec<f32> = r.values().iter().map(|r| store(*r)).collect();
    expect_usable(&stored, r.row_len(), Side::Reference)
}

/// The same as [`expect_comparable`] for two vectors.
pub(super) fn expect_comparable_vectors(a: &[f32], b: &[f32]) -> Result<(), CompareError> {
    if a.len() != b.len() {
        return Err(CompareError::Shape { device: vec![a.len()], reference: vec![b.len()] });
    }
    expect_usable(a, a.len(), Side::Device)?;
    expect_usable(b, b.len(), Side::Reference)
}

/// Checks that a second reference `b` has `r`'s shape and is finite.
pub(super) fn expect_second_reference(b: &Tensor, r: &Tensor) -> Result<(), CompareError> {
    if b.shape() != r.shape() {
        let (b, r) = (b.shape().to_vec(), r.shape().to_vec());
        return Err(CompareError::ReferenceShape { b, r });
    }
    expect_usable(b.values(), b.row_len(), Side::Reference)
}

fn expect_usable(values: &[f32], row_len: usize, side: Side) -> Result<(), CompareError> {
    if values.is_empty() {
        return Err(CompareError::Empty);
    }
    match find_in(values, row_len) {
        None => Ok(()),
        Some(found) => Err(CompareError::NonFinite { side, found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: [usize; 2], values: &[f32]) -> Tensor {
        Tensor::new(shape, DType::Bf16, values.to_vec()).unwrap()
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named_by_row_and_column() {
        let mut y = tensor([2, 3], &[0.0, 1.0, 2.0, 3.0, f32::NAN, f32::INFINITY]);
        let found = find_non_finite(&y).unwrap();
        assert_eq!((found.index, found.row, found.column, found.count), (4, 1, 1, 2));
        assert_eq!(
            CompareError::NonFinite { side: Side::Device, found }.to_string(),
            "the device has 2 of 6 values not finite, in columns 1..3 of row 1 (never written?); the first \
             is NaN at row 1, column 1"
        );
        y.values_mut()[0] = f32::NEG_INFINITY;
        assert_eq!(
            find_non_finite(&y).unwrap().to_string(),
            "3 of 6 values not finite, in all 3 columns of all 2 rows (3 of the 6 values there); the \
             first is -inf at row 0, column 0"
        );
        let one = tensor([1, 3], &[0.0, f32::NAN, 1.0]);
        assert_eq!(
            find_non_finite(&one).unwrap().to_string(),
            "1 of 3 values not finite, the first is NaN at row 0, column 1"
        );
        assert_eq!(find_non_finite(&tensor([1, 2], &[0.0, -1.0])), None);
    }

    #[test]
    fn shapes_of_equal_length_still_differ() {
        let error = expect_comparable(&tensor([2, 3], &[1.0; 6]), &tensor([3, 2], &[1.0; 6]));
        let error = error.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the device's shape is [2, 3], but the reference's is [3, 2]"
        );
        assert!(!error.blames_reference());
    }

    #[test]
    fn nan_on_the_device_is_the_devices_fault_even_where_the_reference_has_it_too() {
        let nan = tensor([1, 2], &[f32::NAN, 1.0]);
        let fine = tensor([1, 2], &[1.0, 1.0]);
        assert!(!expect_comparable(&nan, &nan).unwrap_err().blames_reference());
        assert!(expect_comparable(&fine, &nan).unwrap_err().blames_reference());
    }

    #[test]
    fn nothing_to_compare_is_not_the_devices_fault() {
        let empty = tensor([0, 4], &[]);
        let error = expect_comparable(&empty, &empty).unwrap_err();
        assert_eq!(error, CompareError::Empty);
        assert!(error.blames_reference());
    }

    #[test]
    fn a_dtype_other_than_the_declared_one_is_an_error() {
        let error = expect_dtype(&tensor([1, 1], &[1.0]), DType::F32).unwrap_err();
        assert_eq!(error.to_string(), "the device's values are bf16, but f32 was declared");
        assert!(!error.blames_reference());
    }
}

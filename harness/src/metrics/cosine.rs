//! Cosine similarity, whole and per position.

use super::CompareError;
use super::error::{expect_comparable, expect_comparable_vectors};
use super::sums::Sums;
use crate::Tensor;

/// `<a,b> / (|a| |b|)`, in -1..=1. A zero vector has cosine 0 with any other
/// and 1 with a zero vector.
///
/// # Errors
///
/// Lengths that differ, empty vectors, values that are not finite.
pub fn cosine(a: &[f32], b: &[f32]) -> Result<f64, CompareError> {
    expect_comparable_vectors(a, b)?;
    Ok(Sums::of(a, b).cosine())
}

/// The cosine of each row of `y` with the same row of `r`: of each position of
/// `[positions, width]`.
///
/// # Errors
///
/// Shapes that differ, empty tensors, values that are not finite.
pub fn per_position_cosine(y: &Tensor, r: &Tensor) -> Result<Vec<f64>, CompareError> {
    expect_comparable(y, r)?;
    // The shapes are equal, so `zip` drops nothing.
    Ok(y.rows().zip(r.rows()).map(|(y, r)| Sums::of(y, r).cosine()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use approx::assert_relative_eq;

    fn rows(values: &[[f32; 2]]) -> Tensor {
        Tensor::new([values.len(), 2], DType::Bf16, values.concat()).unwrap()
    }

    #[test]
    fn the_cosine_of_45_degrees_is_the_root_of_a_half() {
        assert_relative_eq!(cosine(&[1.0, 0.0], &[1.0, 1.0]).unwrap(), 0.5f64.sqrt());
        assert_relative_eq!(cosine(&[1.0, 0.0], &[-3.0, 0.0]).unwrap(), -1.0);
    }

    #[test]
    fn scale_does_not_matter_even_at_the_ends_of_f32() {
        let (tiny, huge) = (f32::MIN_POSITIVE, f32::MAX);
        assert_relative_eq!(cosine(&[tiny, tiny], &[huge, huge]).unwrap(), 1.0);
    }

    #[test]
    fn one_bad_position_is_not_averaged_away() {
        let r = rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
        let y = rows(&[[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
        let found = per_position_cosine(&y, &r).unwrap();
        assert_eq!(found.len(), 3);
        assert_relative_eq!(found[0], 1.0);
        assert_relative_eq!(found[1], 0.0);
        assert_relative_eq!(found[2], 1.0);
    }

    #[test]
    fn a_zero_row_is_right_only_where_the_reference_is_zero() {
        let r = rows(&[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
        let y = rows(&[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]);
        assert_eq!(per_position_cosine(&y, &r).unwrap(), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn nan_and_unequal_lengths_are_errors() {
        assert!(cosine(&[f32::NAN], &[1.0]).is_err());
        assert!(cosine(&[1.0, 2.0], &[1.0]).is_err());
        assert!(cosine(&[], &[]).is_err());
    }
}

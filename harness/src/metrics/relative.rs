//! Errors in units of the reference's own error: how far the device is from the truth,
//! compared with how far the bf16 reference is.

use super::CompareError;
use super::error::{expect_comparable, expect_second_reference};
use super::sums::Sums;
use crate::Tensor;

/// The relative error that rounding to bf16 alone leaves in a vector:
/// `2^-9 / sqrt(3)`. Half a unit in the last place is at most `2^-9` of a
/// value, and uniform errors have a root mean square of their bound over
/// `sqrt(3)`.
pub const BF16_NOISE: f64 = 1.0 / 512.0 * FRAC_1_SQRT_3;

const FRAC_1_SQRT_3: f64 = 0.577_350_269_189_625_8;

/// `R = |y - r| / max(|b - r|, BF16_NOISE |r|)` of each row of
/// `[positions, width]`, in 2-norms: about 1 for a correct port. The floor prevents a b
/// that is right by luck from making R large. A row that is exact has R = 0; an error
/// where r and b are both zero has an infinite R.
///
/// # Errors
///
/// Shapes that differ, empty tensors, values that are not finite.
pub fn relative_errors(y: &Tensor, b: &Tensor, r: &Tensor) -> Result<Vec<f64>, CompareError> {
    expect_comparable(y, r)?;
    expect_second_reference(b, r)?;
    // The shapes are equal, so `zip` drops nothing.
    let rows = y.rows().zip(b.rows()).zip(r.rows());
    Ok(rows.map(|((y, b), r)| relative_error(y, b, r)).collect())
}

/// [`relative_errors`] of each head of `[positions, heads * head_dim]`: one
/// vector over the positions for each head.
///
/// # Errors
///
/// Those of [`relative_errors`], and rows that are not a whole number of heads.
pub fn relative_errors_by_head(
    y: &Tensor,
    b: &Tensor,
    r: &Tensor,
    head_dim: usize,
) -> Result<Vec<Vec<f64>>, CompareError> {
    expect_comparable(y, r)?;
    expect_second_reference(b, r)?;
    let width = r.row_len();
    if head_dim == 0 || !width.is_multiple_of(head_dim) {
        return Err(CompareError::Heads { width, head_dim });
    }
    let by_head = (0..width / head_dim).map(|head| {
        let columns = head * head_dim..(head + 1) * head_dim;
        let rows = y.rows().zip(b.rows()).zip(r.rows());
        let errors = rows.map(|((y, b), r)| {
            relative_error(&y[columns.clone()], &b[columns.clone()], &r[columns.clone()])
        });
        errors.collect()
    });
    Ok(by_head.collect())
}

fn relative_error(y: &[f32], b: &[f32], r: &[f32]) -> f64 {
    let (device, reference) = (Sums::of(y, r), Sums::of(b, r));
    let allowed = reference.ee.sqrt().max(BF16_NOISE * reference.rr.sqrt());
    if device.ee == 0.0 { 0.0 } else { device.ee.sqrt() / allowed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use approx::assert_relative_eq;

    fn rows<const W: usize>(values: &[[f32; W]]) -> Tensor {
        Tensor::new([values.len(), W], DType::Bf16, values.concat()).unwrap()
    }

    #[test]
    fn a_device_twice_as_far_off_as_b_has_r_two() {
        let r = rows(&[[3.0, 4.0], [3.0, 4.0]]);
        let b = rows(&[[3.0, 5.0], [3.0, 5.0]]);
        let y = rows(&[[5.0, 4.0], [3.0, 4.0]]);
        assert_eq!(relative_errors(&y, &b, &r).unwrap(), [2.0, 0.0]);
    }

    #[test]
    fn a_lucky_b_does_not_make_r_infinite() {
        // By hand: |y - r| = 1/512, |r| = 5, so R = 1/512 / (5/512/sqrt(3)).
        let r = rows(&[[3.0, 4.0]]);
        let y = rows(&[[3.0, 4.0 + 1.0 / 512.0]]);
        let found = relative_errors(&y, &r, &r).unwrap();
        assert_relative_eq!(found[0], 3f64.sqrt() / 5.0, max_relative = 1e-12);
    }

    #[test]
    fn an_error_on_a_row_of_zeros_is_infinite() {
        let zero = rows(&[[0.0, 0.0]]);
        let y = rows(&[[0.0, 1e-9]]);
        assert_eq!(relative_errors(&y, &zero, &zero).unwrap(), [f64::INFINITY]);
        assert_eq!(relative_errors(&zero, &zero, &zero).unwrap(), [0.0]);
    }

    #[test]
    fn a_fault_in_one_head_shows_in_that_head() {
        let r = rows(&[[3.0, 4.0, 3.0, 4.0]]);
        let b = rows(&[[3.0, 5.0, 3.0, 5.0]]);
        let y = rows(&[[3.0, 5.0, 3.0, 14.0]]);
        assert_eq!(relative_errors_by_head(&y, &b, &r, 2).unwrap(), [[1.0], [10.0]]);
        assert!(relative_errors_by_head(&y, &b, &r, 3).unwrap_err().blames_reference());
    }

    #[test]
    fn references_of_other_shapes_and_nan_are_errors() {
        let r = rows(&[[1.0, 2.0]]);
        let long = rows(&[[1.0, 2.0], [1.0, 2.0]]);
        let nan = rows(&[[f32::NAN, 2.0]]);
        assert!(relative_errors(&r, &long, &r).unwrap_err().blames_reference());
        assert!(relative_errors(&r, &nan, &r).unwrap_err().blames_reference());
        assert!(!relative_errors(&long, &r, &r).unwrap_err().blames_reference());
        assert!(!relative_errors(&nan, &r, &r).unwrap_err().blames_reference());
    }
}

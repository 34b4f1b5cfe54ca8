//! One device tensor against its reference, in one pass.

use super::error::expect_comparable;
use super::{CompareError, cosine::cosine_of};
use crate::Tensor;

/// Relative errors of an element are taken against at least this much, as
/// MLIR-AIR's runner does, so that a zero in the reference does not make them
/// infinite.
const RELATIVE_FLOOR: f64 = 1e-6;

/// How far a tensor `y` is from its reference `r`, over all elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ErrorMetrics {
    /// `<y,r> / (|y| |r|)`; 0 if y is zero everywhere.
    pub cosine: f64,
    /// Largest `abs(y - r)`, in the tensor's unit.
    pub max_abs: f64,
    /// Row-major index of that element; the first one on ties.
    pub max_abs_index: usize,
    /// Mean `abs(y - r)`, in the tensor's unit.
    pub mean_abs: f64,
    /// Largest `abs(y - r) / max(abs(r), 1e-6)`.
    pub max_rel: f64,
    /// Mean of the same.
    pub mean_rel: f64,
    /// `mean(abs(y - r)) / (mean(abs(r)) + 1e-30)`: MLIR-AIR's `mean_rel_L1`,
    /// the figure that its published kernel accuracies are in.
    pub mean_rel_l1: f64,
    /// `10 log10(sum r^2 / sum (y - r)^2)` in decibels; infinite if equal. No
    /// mean is subtracted: an offset is an error.
    pub sqnr_db: f64,
    /// `<r,y> / <r,r>`: 1 where y has r's scale.
    pub slope: f64,
    /// How many elements were compared.
    pub count: usize,
}

/// Sums over the elements of a pair of tensors or of a slice of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub yy: f64,
    pub rr: f64,
    pub yr: f64,
    /// Squared errors.
    pub ee: f64,
}

impl Sums {
    pub fn add(&mut self, y: f64, r: f64) {
        self.yy += y * y;
        self.rr += r * r;
        self.yr += y * r;
        self.ee += (y - r) * (y - r);
    }

    /// Infinite without an error, minus infinite for an error on a zero
    /// reference.
    pub fn sqnr_db(&self) -> f64 {
        if self.ee == 0.0 { f64::INFINITY } else { 10.0 * (self.rr / self.ee).log10() }
    }

    /// On a zero reference: 1 for a zero output, otherwise infinite.
    pub fn slope(&self) -> f64 {
        match (self.rr == 0.0, self.yy == 0.0) {
            (false, _) => self.yr / self.rr,
            (true, true) => 1.0,
            (true, false) => f64::INFINITY,
        }
    }
}

/// Compares a device tensor `y` with its reference `r` of the same shape.
///
/// # Errors
///
/// Shapes that differ, values that are not finite, a reference that is empty or
/// zero everywhere.
pub fn compare(y: &Tensor, r: &Tensor) -> Result<ErrorMetrics, CompareError> {
    expect_comparable(y, r)?;
    let count = y.len();
    let mut sums = Sums::default();
    let (mut sum_abs, mut sum_rel, mut sum_ref) = (0.0, 0.0, 0.0);
    let (mut max_abs, mut max_abs_index, mut max_rel) = (0.0, 0, 0.0f64);
    // The shapes are equal, so `zip` drops nothing.
    for (index, (&y, &r)) in y.values().iter().zip(r.values()).enumerate() {
        let (y, r) = (f64::from(y), f64::from(r));
        sums.add(y, r);
        let abs = (y - r).abs();
        let rel = abs / r.abs().max(RELATIVE_FLOOR);
        if abs > max_abs {
            (max_abs, max_abs_index) = (abs, index);
        }
        max_rel = max_rel.max(rel);
        sum_abs += abs;
        sum_rel += rel;
        sum_ref += r.abs();
    }
    if sums.rr == 0.0 {
        return Err(CompareError::Degenerate(count));
    }
    let mean = |sum: f64| sum / count as f64;
    Ok(ErrorMetrics {
        cosine: cosine_of(sums.yr, sums.yy, sums.rr),
        max_abs,
        max_abs_index,
        mean_abs: mean(sum_abs),
        max_rel,
        mean_rel: mean(sum_rel),
        mean_rel_l1: mean(sum_abs) / (mean(sum_ref) + 1e-30),
        sqnr_db: sums.sqnr_db(),
        slope: sums.slope(),
        count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use approx::assert_relative_eq;

    fn vector(values: &[f32]) -> Tensor {
        Tensor::new([values.len()], DType::F32, values.to_vec()).unwrap()
    }

    #[test]
    fn every_figure_is_the_one_of_its_formula() {
        // By hand: errors (1, 0, -1, 1), r.r = 18, y.y = 29, y.r = 22.
        let (y, r) = (vector(&[2.0, 0.0, -5.0, 0.0]), vector(&[1.0, 0.0, -4.0, -1.0]));
        let found = compare(&y, &r).unwrap();
        assert_eq!(found.count, 4);
        assert_relative_eq!(found.max_abs, 1.0);
        assert_eq!(found.max_abs_index, 0);
        assert_relative_eq!(found.mean_abs, 0.75);
        assert_relative_eq!(found.max_rel, 1.0);
        assert_relative_eq!(found.mean_rel, (1.0 + 0.0 + 0.25 + 1.0) / 4.0);
        assert_relative_eq!(found.mean_rel_l1, 0.75 / 1.5);
        assert_relative_eq!(found.cosine, 22.0 / (29.0f64 * 18.0).sqrt());
        assert_relative_eq!(found.sqnr_db, 10.0 * 6.0f64.log10());
        assert_relative_eq!(found.slope, 22.0 / 18.0);
    }

    #[test]
    fn an_exact_output_has_infinite_sqnr_and_slope_one() {
        let r = vector(&[0.5, -0.25, 3.0]);
        let found = compare(&r, &r).unwrap();
        assert_relative_eq!(found.sqnr_db, f64::INFINITY);
        assert_relative_eq!(found.slope, 1.0);
        assert_relative_eq!(found.cosine, 1.0);
    }

    #[test]
    fn a_doubled_output_keeps_its_cosine_and_is_told_by_its_slope() {
        let found = compare(&vector(&[2.0, -4.0]), &vector(&[1.0, -2.0])).unwrap();
        assert_relative_eq!(found.cosine, 1.0);
        assert_relative_eq!(found.slope, 2.0);
        assert_relative_eq!(found.sqnr_db, 0.0);
    }

    #[test]
    fn an_offset_counts_as_an_error() {
        // A mean-subtracted SQNR would be infinite here.
        let found = compare(&vector(&[11.0, 9.0]), &vector(&[1.0, -1.0])).unwrap();
        assert_relative_eq!(found.sqnr_db, -20.0);
    }

    #[test]
    fn a_zero_output_has_cosine_zero() {
        let found = compare(&vector(&[0.0, 0.0]), &vector(&[1.0, 2.0])).unwrap();
        assert_relative_eq!(found.cosine, 0.0);
        assert_relative_eq!(found.slope, 0.0);
    }

    #[test]
    fn a_reference_of_zeros_cannot_judge_not_even_zeros() {
        let error = compare(&vector(&[0.0; 3]), &vector(&[0.0; 3])).unwrap_err();
        assert_eq!(error, CompareError::Degenerate(3));
        assert!(error.blames_reference());
    }

    #[test]
    fn nan_and_a_shorter_output_are_errors() {
        let r = vector(&[1.0, 2.0]);
        assert!(compare(&vector(&[f32::NAN, 2.0]), &r).is_err());
        assert!(compare(&vector(&[1.0]), &r).is_err());
        assert!(compare(&vector(&[1.0, 2.0, 3.0]), &r).is_err());
    }

    #[test]
    fn zeros_in_the_reference_do_not_make_relative_errors_infinite() {
        let found = compare(&vector(&[1e-6, 1.0]), &vector(&[0.0, 1.0])).unwrap();
        assert_relative_eq!(found.max_rel, 1.0, max_relative = 1e-6);
    }

    #[test]
    fn large_sums_do_not_lose_small_terms() {
        // In f32, 2^24 + 1 is 2^24: the sum of ones would stop growing.
        let r = vector(&vec![1.0; (1 << 24) + 8]);
        assert_relative_eq!(compare(&r, &r).unwrap().slope, 1.0, epsilon = 0.0);
    }
}

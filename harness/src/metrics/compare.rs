//! One device tensor against its reference, in one pass.

use super::checked::run;
use super::pass::{Cut, Found};
use super::slices::figures;
use super::{Axis, CompareError, SliceFigures};
use crate::{DType, Tensor, Tolerance};

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
    /// `<r,y> / <r,r>`: 1 if y has r's scale.
    pub slope: f64,
    /// `abs(mean(y - r)) / sqrt(mean((y - r)^2))`: rounding to nearest averages out,
    /// truncation does not. 0 without an error.
    pub bias: f64,
    /// The number of elements that are off by more than the tolerance, or that differ at
    /// all if no tolerance was given.
    pub mismatches: usize,
    /// How many elements were compared.
    pub count: usize,
}

/// Compares a device tensor `y` with its reference `r` of the same shape.
///
/// # Errors
///
/// Shapes that differ, values that are not finite, a reference that is empty or
/// zero everywhere.
pub fn compare(y: &Tensor, r: &Tensor) -> Result<ErrorMetrics, CompareError> {
    let exact = Tolerance { rtol: 0.0, atol: 0.0 };
    ErrorMetrics::of(&run(y, r, |r| r, exact, Cut::Whole)?, y.len())
}

/// The figures by which a kernel's output is judged.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Figures of the whole output. Those of elements (`*abs*`, `*rel*`, mismatches) are
    /// taken against the reference as the device would store it, as the registry's own are:
    /// an output stored in bf16 is compared with the truth in bf16. Cosine, SQNR, slope and
    /// bias are taken against the reference as it is.
    pub errors: ErrorMetrics,
    /// Noise and scale of every slice along each axis that was asked for, in that order,
    /// against the reference as it is.
    pub slices: Vec<Vec<SliceFigures>>,
}

/// Judges a kernel's output `y` by the exact reference `r`, in one pass.
///
/// # Errors
///
/// Those of [`compare`], a reference that is not finite once it is stored, rows that are
/// not a whole number of heads.
pub fn judge(
    y: &Tensor,
    r: &Tensor,
    tolerance: Tolerance,
    axes: &[Axis],
) -> Result<Judgement, CompareError> {
    let cut = axes.iter().fold(Cut::Whole, |cut, axis| cut.and(axis.cut()));
    // One closure for each dtype, so that the pass does not check it for every element.
    let found = match y.dtype() {
        DType::F32 => run(y, r, |r| r, tolerance, cut),
        DType::Bf16 => run(y, r, |r| DType::Bf16.store(r), tolerance, cut),
    }?;
    let slices = axes.iter().map(|axis| figures(&found, *axis, y.row_len()));
    Ok(Judgement {
        errors: ErrorMetrics::of(&found, y.len())?,
        slices: slices.collect::<Result<_, _>>()?,
    })
}

impl ErrorMetrics {
    fn of(found: &Found, count: usize) -> Result<Self, CompareError> {
        let Found { sums, .. } = found;
        if sums.rr == 0.0 {
            return Err(CompareError::Degenerate(count));
        }
        let mean = |sum: f64| sum / count as f64;
        let rms = mean(sums.ee).sqrt();
        Ok(Self {
            cosine: sums.cosine(),
            max_abs: found.max_abs,
            max_abs_index: found.max_abs_index,
            mean_abs: mean(found.abs),
            max_rel: found.max_rel,
            mean_rel: mean(found.rel),
            mean_rel_l1: mean(found.abs) / (mean(found.stored) + 1e-30),
            sqnr_db: sums.sqnr_db(),
            slope: sums.slope(),
            mismatches: found.mismatches,
            bias: if rms == 0.0 { 0.0 } else { mean(found.error).abs() / rms },
            count,
        })
    }
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
    fn a_doubled_output_keeps_its_cosine_and_shows_in_its_slope() {
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

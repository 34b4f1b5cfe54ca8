//! Scale and noise by slice: a dead row, column or head is hidden in the figures of a
//! large tensor, and stands out in its own.

use super::CompareError;
use super::checked::run;
use super::pass::{Cut, Found};
use super::sums::Sums;
use crate::{Tensor, Tolerance};
use std::fmt;

/// How to cut a `[rows, width]` tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// By row: by position.
    Row,
    /// By column: by feature.
    Column,
    /// By groups of columns.
    Head {
        /// Columns of a head.
        head_dim: usize,
    },
}

impl Axis {
    /// What a pass must keep for the slices along this axis.
    pub(super) fn cut(self) -> Cut {
        match self {
            Self::Row => Cut::Rows,
            Self::Column | Self::Head { .. } => Cut::Columns,
        }
    }
}

/// One slice of a tensor; prints as `row 17`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slice {
    /// A row.
    Row(usize),
    /// A column.
    Column(usize),
    /// A head.
    Head(usize),
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(index) => write!(f, "row {index}"),
            Self::Column(index) => write!(f, "column {index}"),
            Self::Head(index) => write!(f, "head {index}"),
        }
    }
}

/// The noise and scale of one slice, as [`ErrorMetrics`](super::ErrorMetrics) defines
/// them. An output that is not zero where the reference is zero has an SQNR of minus
/// infinity and an infinite slope; zero for zero is exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SliceFigures {
    /// Which slice.
    pub slice: Slice,
    /// In decibels.
    pub sqnr_db: f64,
    /// 1 if the scale is right.
    pub slope: f64,
}

/// Noise and scale of every slice along an axis.
///
/// # Errors
///
/// Shapes that differ, empty tensors, values that are not finite, rows that are not a
/// whole number of heads.
pub fn figures_by_slice(
    y: &Tensor,
    r: &Tensor,
    axis: Axis,
) -> Result<Vec<SliceFigures>, CompareError> {
    let exact = Tolerance { rtol: 0.0, atol: 0.0 };
    figures(&run(y, r, |r| r, exact, axis.cut())?, axis, y.row_len())
}

/// The figures of the slices along an axis that a pass was cut for.
pub(super) fn figures(
    found: &Found,
    axis: Axis,
    width: usize,
) -> Result<Vec<SliceFigures>, CompareError> {
    type Name = fn(usize) -> Slice;
    let heads: Vec<Sums>;
    let (sums, name): (_, Name) = match axis {
        Axis::Row => (&found.rows, Slice::Row),
        Axis::Column => (&found.columns, Slice::Column),
        Axis::Head { head_dim } if head_dim > 0 && width.is_multiple_of(head_dim) => {
            heads = found.columns.chunks(head_dim).map(|head| head.iter().copied().sum()).collect();
            (&heads, Slice::Head)
        }
        Axis::Head { head_dim } => return Err(CompareError::Heads { width, head_dim }),
    };
    let figures = sums.iter().enumerate().map(|(index, sums)| SliceFigures {
        slice: name(index),
        sqnr_db: sums.sqnr_db(),
        slope: sums.slope(),
    });
    Ok(figures.collect())
}

/// The slice with the lowest SQNR, the first one on ties; `None` if there is
/// none.
pub fn worst_sqnr(figures: &[SliceFigures]) -> Option<SliceFigures> {
    figures.iter().copied().min_by(|a, b| a.sqnr_db.total_cmp(&b.sqnr_db))
}

/// The slice whose slope is furthest from 1, the first one on ties; `None` if
/// there is none.
pub fn worst_slope(figures: &[SliceFigures]) -> Option<SliceFigures> {
    let off = |figures: &SliceFigures| (figures.slope - 1.0).abs();
    // `max_by` would keep the last one on ties.
    figures.iter().copied().min_by(|a, b| off(b).total_cmp(&off(a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use approx::assert_relative_eq;

    fn rows(values: &[[f32; 4]]) -> Tensor {
        Tensor::new([values.len(), 4], DType::F32, values.concat()).unwrap()
    }

    fn pair() -> (Tensor, Tensor) {
        (
            rows(&[[1.0, 2.0, 3.0, 4.0], [2.0, 0.0, -1.0, 1.0], [0.0, 1.0, 0.0, 8.0]]),
            rows(&[[1.0, 2.0, 3.0, 5.0], [2.0, 0.0, -1.0, 1.0], [1.0, 1.0, 0.0, 4.0]]),
        )
    }

    // numpy: 10*log10((r*r).sum()/((y-r)**2).sum()), (r*y).sum()/(r*r).sum()
    // over each slice.
    #[test]
    fn figures_by_row_are_those_of_numpy() {
        let (y, r) = pair();
        let found = figures_by_slice(&y, &r, Axis::Row).unwrap();
        assert_relative_eq!(found[1].sqnr_db, f64::INFINITY);
        assert_relative_eq!(found[0].sqnr_db, 15.910_646_070_264_992, max_relative = 1e-12);
        assert_relative_eq!(found[2].slope, 11.0 / 6.0, max_relative = 1e-12);
        assert_eq!(worst_sqnr(&found).unwrap().slice.to_string(), "row 2");
    }

    #[test]
    fn figures_by_column_and_head_are_those_of_numpy() {
        let (y, r) = pair();
        let columns = figures_by_slice(&y, &r, Axis::Column).unwrap();
        assert_eq!(columns.len(), 4);
        assert_relative_eq!(columns[3].sqnr_db, 3.928_003_690_196_266, max_relative = 1e-12);
        assert_eq!(worst_slope(&columns).unwrap().slice.to_string(), "column 3");
        let heads = figures_by_slice(&y, &r, Axis::Head { head_dim: 2 }).unwrap();
        assert_eq!(heads.len(), 2);
        assert_relative_eq!(heads[1].slope, 63.0 / 52.0, max_relative = 1e-12);
        assert_eq!(worst_sqnr(&heads).unwrap().slice.to_string(), "head 1");
    }

    #[test]
    fn a_dead_row_has_no_signal_and_no_slope() {
        let (_, r) = pair();
        let mut y = r.clone();
        y.values_mut()[4..8].fill(0.0);
        let found = figures_by_slice(&y, &r, Axis::Row).unwrap();
        let worst = worst_sqnr(&found).unwrap();
        assert_eq!((worst.slice, worst.sqnr_db, worst.slope), (Slice::Row(1), 0.0, 0.0));
    }

    #[test]
    fn noise_on_a_row_of_zeros_is_the_worst_figure() {
        let r = rows(&[[1.0; 4], [0.0; 4], [0.0; 4]]);
        let y = rows(&[[1.0; 4], [0.0; 4], [0.0, 0.0, 1e-9, 0.0]]);
        let found = figures_by_slice(&y, &r, Axis::Row).unwrap();
        assert_eq!((found[1].sqnr_db, found[1].slope), (f64::INFINITY, 1.0));
        assert_eq!(worst_sqnr(&found).unwrap().slice, Slice::Row(2));
        assert_eq!(worst_slope(&found).unwrap().slice, Slice::Row(2));
    }

    #[test]
    fn rows_that_are_not_a_whole_number_of_heads_are_an_error() {
        let (y, r) = pair();
        for head_dim in [0, 3, 8] {
            let error = figures_by_slice(&y, &r, Axis::Head { head_dim }).unwrap_err();
            assert_eq!(error, CompareError::Heads { width: 4, head_dim });
        }
    }
}

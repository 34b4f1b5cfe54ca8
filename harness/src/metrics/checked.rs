//! The pass over two tensors that can be compared.

use super::CompareError;
use super::error::{expect_comparable, expect_same_shape, expect_storable};
use super::pass::{Cut, Found, Pair, pass};
use crate::{Tensor, Tolerance};

/// Runs the pass over two tensors, and refuses tensors that cannot be compared.
pub(super) fn run(
    y: &Tensor,
    r: &Tensor,
    store: impl Fn(f32) -> f32 + Copy + Sync,
    tolerance: Tolerance,
    cut: Cut,
) -> Result<Found, CompareError> {
    expect_same_shape(y, r)?;
    let (y_values, r_values) = (y.values(), r.values());
    let pair = Pair { y: y_values, r: r_values, width: y.row_len(), store, tolerance };
    let found = pass(&pair, cut);
    // The sums show whether a value is not finite; only then is it looked for.
    if !found.is_finite() || y.is_empty() {
        expect_comparable(y, r)?;
        expect_storable(r, store)?;
    }
    Ok(found)
}

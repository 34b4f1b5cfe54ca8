//! Describes where a kernel's output is wrong. The place is looked for only after a
//! failure; the gate's own pass over the output does not record places.

use crate::kernel::Tolerance;
use crate::metrics::Region;
use crate::schema::significant;
use crate::{DType, Tensor};

/// The region of the elements of `device` that the tolerance does not accept, and
/// the worst of them: `columns 64..128 (head 1) of all 256 rows; worst at row 3,
/// column 70: 0.5, reference 1.25`. `None` if the tolerance accepts all of them.
pub(super) fn of(
    device: &Tensor,
    exact: &Tensor,
    head_dim: Option<usize>,
    tolerance: Tolerance,
) -> Option<String> {
    let (y, r) = (device.values(), exact.values());
    let stored = |index: usize| device.dtype().store(r[index]);
    let wrong = |index: usize| !tolerance.accepts(y[index], stored(index));
    let (len, width) = (y.len().min(r.len()), device.row_len().max(1));
    let region = Region::of(len, width, wrong)?;
    let error = |index: usize| (f64::from(y[index]) - f64::from(stored(index))).abs();
    // On ties, the first one.
    let worst =
        (0..len).filter(|index| wrong(*index)).min_by(|a, b| error(*b).total_cmp(&error(*a)))?;
    let zeros = region.count > 1 && (0..len).filter(|index| wrong(*index)).all(|i| y[i] == 0.0);
    let hint = if zeros { ", all 0 on the device (never written?)" } else { "" };
    let at = match width {
        1 => format!("element {worst}"),
        _ => format!("row {}, column {}", worst / width, worst % width),
    };
    Some(format!(
        "in {}{hint}; worst at {at}: {}, reference {}",
        region.named(head_dim),
        value(y[worst], device.dtype()),
        value(stored(worst), device.dtype()),
    ))
}

/// A value with the digits that its type can tell apart.
fn value(value: f32, dtype: DType) -> String {
    let digits = match dtype {
        DType::Bf16 => 4,
        DType::F32 => 9,
    };
    significant(f64::from(value), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0 };

    fn tensor(dtype: DType, shape: [usize; 2], values: &[f32]) -> Tensor {
        Tensor::new(shape, dtype, values.to_vec()).unwrap()
    }

    #[test]
    fn the_place_and_the_worst_element_are_named() {
        let r = tensor(DType::F32, [2, 4], &[1.0; 8]);
        let y = tensor(DType::Bf16, [2, 4], &[1.0, 1.0, 1.5, 2.0, 1.0, 1.0, 1.25, -0.5]);
        assert_eq!(
            of(&y, &r, Some(2), EXACT).unwrap(),
            "in columns 2..4 (head 1) of all 2 rows; worst at row 1, column 3: -0.5, reference 1"
        );
        assert_eq!(of(&r, &r, None, EXACT), None);
    }

    #[test]
    fn nothing_but_zeros_looks_like_a_part_that_was_never_written() {
        let r = tensor(DType::F32, [2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let y = tensor(DType::F32, [2, 3], &[1.0, 2.0, 0.0, 4.0, 5.0, 0.0]);
        assert_eq!(
            of(&y, &r, None, EXACT).unwrap(),
            "in column 2 of all 2 rows, all 0 on the device (never written?); worst at row 1, \
             column 2: 0, reference 6"
        );
    }

    #[test]
    fn the_reference_is_quoted_as_the_device_stores_it() {
        let r = tensor(DType::F32, [1, 2], &[1.001, 1.0]);
        let y = tensor(DType::Bf16, [1, 2], &[1.0, 2.0]);
        assert_eq!(
            of(&y, &r, None, EXACT).unwrap(),
            "in column 1; worst at row 0, column 1: 2, reference 1"
        );
    }

    #[test]
    fn values_have_the_digits_of_their_type() {
        for (number, dtype, text) in [
            (0.007_843_018, DType::Bf16, "0.007843"),
            (-1234.5, DType::F32, "-1234.5"),
            (12_345.0, DType::Bf16, "12345"),
            (3.0e-7, DType::Bf16, "3.000e-7"),
            (f32::NAN, DType::F32, "NaN"),
        ] {
            assert_eq!(value(number, dtype), text);
        }
    }
}

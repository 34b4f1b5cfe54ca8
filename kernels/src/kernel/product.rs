//! The f32 matrix product of the `matrixmultiply` crate behind a checked interface.

#![allow(unsafe_code)]

use matrixmultiply::sgemm;

/// A matrix with its row and column strides, in elements.
pub(crate) type Strided<'a> = (&'a [f32], isize, isize);

/// `c[m, n] = a[m, k] b[k, n]`, c contiguous.
pub(crate) fn product(m: usize, k: usize, n: usize, a: Strided<'_>, b: Strided<'_>, c: &mut [f32]) {
    let reach = |rows: usize, cols: usize, (_, row, col): Strided<'_>| {
        (rows - 1) * row.unsigned_abs() + (cols - 1) * col.unsigned_abs() + 1
    };
    assert!(a.0.len() >= reach(m, k, a) && b.0.len() >= reach(k, n, b) && c.len() == m * n);
    assert!(a.1 >= 0 && a.2 >= 0 && b.1 >= 0 && b.2 >= 0);
    // SAFETY: strides are not negative and every index that `sgemm` forms from them lies within its
    // slice (asserted above); `c` is borrowed mutably, so it does not overlap `a` or `b`.
    unsafe {
        sgemm(
            m,
            k,
            n,
            1.0,
            a.0.as_ptr(),
            a.1,
            a.2,
            b.0.as_ptr(),
            b.1,
            b.2,
            0.0,
            c.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}

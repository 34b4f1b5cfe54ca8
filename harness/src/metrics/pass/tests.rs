//! A tensor of several blocks, threads and chunks, with the figures that numpy computes
//! for it in f64.

use super::{Cut, Pair, THREAD_ELEMENTS, pass};
use crate::metrics::{Axis, CompareError, Side, compare, judge, worst_slope, worst_sqnr};
use crate::{DType, Tensor, Tolerance};
use approx::assert_relative_eq;

const ROWS: usize = 300;
const WIDTH: usize = 1024;
/// Powers of two, so that f32 and f64 agree on what is at its edge.
const TOLERANCE: Tolerance = Tolerance { rtol: 1.0 / 128.0, atol: 1.0 / 32.0 };

/// `r = ((37 i mod 101) - 50) / 8`, `y = r + ((i mod 7) - 3) / 64`, and y is 2 more at
/// two places.
fn pair() -> (Tensor, Tensor) {
    let r: Vec<f32> = (0..ROWS * WIDTH).map(|i| ((i * 37 % 101) as f32 - 50.0) / 8.0).collect();
    let mut y: Vec<f32> =
        r.iter().enumerate().map(|(i, r)| r + ((i % 7) as f32 - 3.0) / 64.0).collect();
    y[200_001] += 2.0;
    y[250_000] += 2.0;
    let tensor = |values| Tensor::new([ROWS, WIDTH], DType::F32, values).unwrap();
    (tensor(y), tensor(r))
}

#[test]
fn the_figures_of_a_large_tensor_are_those_of_numpy() {
    let (y, r) = pair();
    assert!(y.len() > 2 * THREAD_ELEMENTS, "too small for two threads");
    let axes = [Axis::Head { head_dim: 64 }, Axis::Row, Axis::Column];
    let found = judge(&y, &r, TOLERANCE, &axes).unwrap();
    let errors = found.errors;
    let same = |found: f64, numpy: f64| assert_relative_eq!(found, numpy, max_relative = 1e-12);
    assert_eq!((errors.max_abs, errors.max_abs_index), (2.015_625, 200_001));
    same(errors.mean_abs, 0.026_798_553_466_796_875);
    same(errors.mean_rel_l1, 0.008_491_450_739_558_057);
    same(errors.mean_rel, 265.216_849_110_199_46);
    same(errors.max_rel, 46_875.0);
    same(errors.cosine, 0.999_962_257_227_591);
    same(errors.sqnr_db, 41.221_123_304_160_84);
    same(errors.slope, 0.999_999_175_668_567);
    same(errors.bias, 0.000_403_188_971_433_109_86);
    assert_eq!((errors.mismatches, errors.count), (26_940, 307_200));

    let [heads, rows, columns] = &found.slices[..] else { panic!("{}", found.slices.len()) };
    assert_eq!((heads.len(), rows.len(), columns.len()), (16, ROWS, WIDTH));
    let worst = worst_sqnr(heads).unwrap();
    assert_eq!(worst.slice.to_string(), "head 5");
    same(worst.sqnr_db, 40.482_827_601_434_224);
    same(heads[15].sqnr_db, 41.336_333_872_442_53);
    let worst = worst_sqnr(rows).unwrap();
    assert_eq!(worst.slice.to_string(), "row 195");
    same(worst.sqnr_db, 34.291_764_279_219_27);
    let worst = worst_slope(rows).unwrap();
    assert_eq!(worst.slice.to_string(), "row 244");
    same(worst.slope, 0.999_378_045_822_272_9);
    let worst = worst_sqnr(columns).unwrap();
    assert_eq!(worst.slice.to_string(), "column 321");
    same(worst.sqnr_db, 29.637_046_408_673_346);
    same(columns[1023].sqnr_db, 41.390_982_296_158_05);
}

#[test]
fn an_uncut_pass_counts_what_differs_at_all() {
    let (y, r) = pair();
    // numpy: np.count_nonzero(y != r).
    assert_eq!(compare(&y, &r).unwrap().mismatches, 263_314);
}

#[test]
fn the_number_of_threads_does_not_affect_the_result() {
    // The same rows, once in a tensor too small for a second thread.
    let (y, r) = pair();
    let pair = |elements: usize| Pair {
        y: &y.values()[..elements],
        r: &r.values()[..elements],
        width: WIDTH,
        store: |r| r,
        tolerance: TOLERANCE,
    };
    let small = pass(&pair(100 * WIDTH), Cut::Rows);
    let large = pass(&pair(ROWS * WIDTH), Cut::Rows);
    for (small, large) in small.rows.iter().zip(&large.rows) {
        assert_eq!((small.yy, small.rr, small.ee), (large.yy, large.rr, large.ee));
    }
    assert_eq!((small.rows.len(), large.rows.len()), (100, ROWS));
}

#[test]
fn one_value_that_is_not_finite_is_found_anywhere() {
    for index in [0, 63, 64, WIDTH - 1, 200_000, ROWS * WIDTH - 1] {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (mut y, mut r) = pair();
            y.values_mut()[index] = value;
            let found = judge(&y, &r, TOLERANCE, &[Axis::Row]).unwrap_err();
            let CompareError::NonFinite { side: Side::Device, found } = found else {
                panic!("{found}")
            };
            assert_eq!((found.index, found.count), (index, 1));
            let (y, _) = pair();
            r.values_mut()[index] = value;
            assert!(compare(&y, &r).unwrap_err().blames_reference());
        }
    }
}

#[test]
fn rows_that_fill_no_whole_chunk_are_counted_to_their_end() {
    // 70 = 64 + 6 columns: the error is in the tail of the last row.
    let r = Tensor::new([3, 70], DType::F32, vec![1.0; 210]).unwrap();
    let mut y = r.clone();
    y.values_mut()[209] = 3.0;
    let found = judge(&y, &r, TOLERANCE, &[Axis::Row, Axis::Column]).unwrap();
    assert_eq!((found.errors.mismatches, found.errors.max_abs_index), (1, 209));
    assert_eq!(worst_sqnr(&found.slices[0]).unwrap().slice.to_string(), "row 2");
    assert_eq!(worst_sqnr(&found.slices[1]).unwrap().slice.to_string(), "column 69");
}

#[test]
fn a_bf16_output_is_compared_with_the_truth_in_bf16() {
    // 1 + 2^-9 is stored as 1 in bf16: right in every element, and 2^-9 off the truth.
    let r = Tensor::new([1, 4], DType::F32, vec![1.0 + 1.0 / 512.0; 4]).unwrap();
    let y = |dtype| Tensor::new([1, 4], dtype, vec![1.0; 4]).unwrap();
    let exact = Tolerance { rtol: 0.0, atol: 0.0 };
    let found = judge(&y(DType::Bf16), &r, exact, &[]).unwrap().errors;
    assert_eq!((found.mismatches, found.max_abs), (0, 0.0));
    assert_relative_eq!(found.slope, 512.0 / 513.0, max_relative = 1e-12);
    let found = judge(&y(DType::F32), &r, exact, &[]).unwrap().errors;
    assert_eq!((found.mismatches, found.max_abs), (4, 1.0 / 512.0));
}

#[test]
fn a_reference_beyond_bf16_cannot_judge() {
    // f32's largest value is rounded to infinity.
    let r = Tensor::new([1, 2], DType::F32, vec![1.0, f32::MAX]).unwrap();
    let y = Tensor::new([1, 2], DType::Bf16, vec![1.0, 1.0]).unwrap();
    assert!(judge(&y, &r, TOLERANCE, &[]).unwrap_err().blames_reference());
}

#[test]
fn a_tolerance_that_is_not_a_number_accepts_nothing() {
    let (y, r) = pair();
    let nan = Tolerance { rtol: f32::NAN, atol: 0.0 };
    assert_eq!(judge(&y, &r, nan, &[]).unwrap().errors.mismatches, ROWS * WIDTH);
}

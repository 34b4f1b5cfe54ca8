//! How far an output is from its reference, in the registry's definitions.

use half::bf16;
use rayon::prelude::*;

use crate::{Rounding, Tensor, TensorData};

/// Keeps a quotient finite where the reference is zero; the value that the registry's harness adds.
const TINY: f64 = 1e-30;
/// Elements whose sums are formed together. Fixed, so that the result does not depend on how many
/// threads there are.
const CHUNK: usize = 1 << 16;

/// What was found for an output: everything in f64, over all elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    /// `mean |y - r| / mean |r|`.
    pub mean_rel_l1: f64,
    /// `max |y - r| / |r|`.
    pub max_rel: f64,
    /// `max |y - r|`.
    pub max_abs: f64,
    /// Pearson correlation of y and r.
    pub correlation: f64,
    /// Elements that are not equal.
    pub differing: usize,
    /// The largest distance of an element from its reference, in units of the last place of bf16;
    /// infinite where either is NaN.
    pub worst_ulps: f64,
    /// All elements.
    pub outputs: usize,
}

/// Compares an output with its f32 reference. A bf16 output is compared with the reference narrowed
/// to nearest even, an f32 output with the reference as it is. `None` if there is nothing to
/// compare or the lengths differ.
pub fn compare(output: &Tensor, reference: &[f32]) -> Option<Found> {
    if output.is_empty() || output.len() != reference.len() {
        return None;
    }
    let sums: Vec<Sums> = match output.data() {
        TensorData::Bf16(values) => values
            .par_chunks(CHUNK)
            .zip(reference.par_chunks(CHUNK))
            .map(|(y, r)| Sums::of(y.iter().zip(r).map(|(y, &r)| (y.to_f32(), narrow(r)))))
            .collect(),
        TensorData::F32(values) => values
            .par_chunks(CHUNK)
            .zip(reference.par_chunks(CHUNK))
            .map(|(y, r)| Sums::of(y.iter().copied().zip(r.iter().copied())))
            .collect(),
    };
    Some(sums.into_iter().fold(Sums::default(), Sums::and).found())
}

fn narrow(reference: f32) -> f32 {
    Rounding::NearestEven.narrow(reference).to_f32()
}

/// Sums over some of the elements.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: usize,
    differing: usize,
    error: f64,
    size: f64,
    max_rel: f64,
    max_abs: f64,
    worst_ulps: f64,
    y: f64,
    r: f64,
    yy: f64,
    rr: f64,
    yr: f64,
}

impl Sums {
    fn of(pairs: impl Iterator<Item = (f32, f32)>) -> Self {
        let mut sums = Self::default();
        for (y, r) in pairs {
            let steps = ulps(y, r);
            let (y, r) = (f64::from(y), f64::from(r));
            // Zero if and only if they are equal; NaN is not zero.
            let error = (y - r).abs();
            sums.count += 1;
            sums.differing += usize::from(error != 0.0);
            sums.error += error;
            sums.size += r.abs();
            sums.max_rel = worst(sums.max_rel, error / (r.abs() + TINY));
            sums.max_abs = worst(sums.max_abs, error);
            sums.worst_ulps = worst(sums.worst_ulps, steps);
            sums.y += y;
            sums.r += r;
            sums.yy += y * y;
            sums.rr += r * r;
            sums.yr += y * r;
        }
        sums
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            differing: self.differing + other.differing,
            error: self.error + other.error,
            size: self.size + other.size,
            max_rel: worst(self.max_rel, other.max_rel),
            max_abs: worst(self.max_abs, other.max_abs),
            worst_ulps: worst(self.worst_ulps, other.worst_ulps),
            y: self.y + other.y,
            r: self.r + other.r,
            yy: self.yy + other.yy,
            rr: self.rr + other.rr,
            yr: self.yr + other.yr,
        }
    }

    fn found(&self) -> Found {
        let n = self.count as f64;
        let covariance = self.yr - self.y * self.r / n;
        let variances = (self.yy - self.y * self.y / n) * (self.rr - self.r * self.r / n);
        Found {
            mean_rel_l1: self.error / n / (self.size / n + TINY),
            max_rel: self.max_rel,
            max_abs: self.max_abs,
            correlation: covariance / variances.sqrt(),
            differing: self.differing,
            worst_ulps: self.worst_ulps,
            outputs: self.count,
        }
    }
}

/// The larger; NaN if either is, which `f64::max` would drop.
fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// How many steps of bf16 lie between two values.
fn ulps(a: f32, b: f32) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::INFINITY;
    }
    let position = |x: f32| {
        let bits = i32::from(bf16::from_f32(x).to_bits());
        if bits & 0x8000 == 0 { bits } else { 0x8000 - bits }
    };
    f64::from((position(a) - position(b)).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::f32([values.len()], values.to_vec()).unwrap()
    }

    #[test]
    fn the_figures_are_those_that_numpy_computes() {
        // y = [1, -2.5, 0.5, 4]; r = [1, -2, 1, 3.5]; d = abs(y - r)
        // d.mean() / abs(r).mean(), (d / abs(r)).max(), d.max(), corrcoef(y, r)[0, 1] are these.
        let found = compare(&tensor(&[1.0, -2.5, 0.5, 4.0]), &[1.0, -2.0, 1.0, 3.5]).unwrap();
        assert!((found.mean_rel_l1 - 0.2).abs() < 1e-12, "{found:?}");
        assert!((found.max_rel - 0.5).abs() < 1e-12, "{found:?}");
        assert!((found.max_abs - 0.5).abs() < 1e-12, "{found:?}");
        assert!((found.correlation - 0.995_000_818_057_515).abs() < 1e-12, "{found:?}");
        assert_eq!((found.differing, found.outputs), (3, 4));
    }

    #[test]
    fn a_bf16_output_is_compared_with_the_narrowed_reference() {
        let values: Vec<bf16> = [1.0, -3.0].map(bf16::from_f32).to_vec();
        let output = Tensor::bf16([2], values).unwrap();
        // 1.001 narrows to 1; -3.02 narrows to -3.015625, one step of 2^-6 away from -3.
        let found = compare(&output, &[1.001, -3.02]).unwrap();
        assert_eq!((found.differing, found.worst_ulps, found.max_abs), (1, 1.0, 0.015_625));
    }

    #[test]
    fn steps_are_counted_across_zero_and_powers_of_two() {
        assert!((ulps(1.0, 0.996_093_75) - 1.0).abs() < 1e-9);
        assert!((ulps(-1.0, -1.007_812_5) - 1.0).abs() < 1e-9);
        // The smallest positive and negative bf16, 2^-133.
        assert!((ulps(9.183_55e-41, -9.183_55e-41) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn one_nan_spoils_every_figure() {
        for found in [
            compare(&tensor(&[1.0, f32::NAN]), &[1.0, 1.0]).unwrap(),
            compare(&tensor(&[1.0, 1.0]), &[f32::NAN, 1.0]).unwrap(),
        ] {
            assert!(found.mean_rel_l1.is_nan() && found.max_rel.is_nan() && found.max_abs.is_nan());
            assert!(found.correlation.is_nan() && found.worst_ulps.is_infinite());
            assert_eq!(found.differing, 1);
        }
    }

    #[test]
    fn nothing_is_not_compared() {
        assert_eq!(compare(&tensor(&[]), &[]), None);
        assert_eq!(compare(&tensor(&[1.0]), &[1.0, 1.0]), None);
    }
}

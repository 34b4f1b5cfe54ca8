//! The spread of a set of numbers.

/// The spread of a set of numbers. Percentiles are interpolated between the
/// closest ranks, as `numpy.percentile` does by default (`method="linear"`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distribution {
    /// The smallest.
    pub min: f64,
    /// The 5th percentile.
    pub p5: f64,
    /// The 50th percentile.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
}

impl Distribution {
    /// The distribution of some values; `None` if there are none. One NaN makes
    /// every figure NaN, so that no limit holds.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        if values.iter().any(|value| value.is_nan()) {
            let nan = f64::NAN;
            return Some(Self { min: nan, p5: nan, median: nan, p95: nan, mean: nan, max: nan });
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            min: sorted[0],
            p5: percentile(&sorted, 0.05),
            median: percentile(&sorted, 0.5),
            p95: percentile(&sorted, 0.95),
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            max: sorted[sorted.len() - 1],
        })
    }
}

/// The percentile of sorted values at a `fraction` in 0..=1; there must be at least one value.
fn percentile(sorted: &[f64], fraction: f64) -> f64 {
    let place = fraction * (sorted.len() - 1) as f64;
    let (below, weight) = (place.floor() as usize, place.fract());
    let low = sorted[below];
    let high = sorted[(below + 1).min(sorted.len() - 1)];
    // Interpolating between equal infinities, or with a weight of zero, would give NaN.
    if weight > 0.0 && low < high { low + (high - low) * weight } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn percentiles_are_those_of_numpy() {
        // np.percentile([3, 1, 4, 1, 5, 9, 2, 6], [5, 50, 95]) and np.mean.
        let found = Distribution::of(&[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]).unwrap();
        assert_relative_eq!(found.min, 1.0);
        assert_relative_eq!(found.p5, 1.0);
        assert_relative_eq!(found.median, 3.5);
        assert_relative_eq!(found.p95, 7.949_999_999_999_999);
        assert_relative_eq!(found.mean, 3.875);
        assert_relative_eq!(found.max, 9.0);
    }

    #[test]
    fn one_value_is_its_own_distribution() {
        let found = Distribution::of(&[0.25]).unwrap();
        assert_eq!((found.min, found.p5, found.p95, found.max), (0.25, 0.25, 0.25, 0.25));
    }

    #[test]
    fn nothing_has_no_distribution() {
        assert_eq!(Distribution::of(&[]), None);
    }

    #[test]
    fn one_nan_poisons_every_figure() {
        let found = Distribution::of(&[1.0, f64::NAN, 2.0]).unwrap();
        let figures = [found.min, found.p5, found.median, found.p95, found.mean, found.max];
        assert!(figures.iter().all(|figure| figure.is_nan()));
    }

    #[test]
    fn an_infinite_value_shows_in_the_tail_and_leaves_the_median_alone() {
        let found = Distribution::of(&[1.0, 2.0, f64::INFINITY]).unwrap();
        assert_eq!((found.median, found.p95), (2.0, f64::INFINITY));
    }
}

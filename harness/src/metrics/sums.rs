//! Sums over the elements of a pair of vectors.
//!
//! Elements are distributed over a fixed number of lanes, and the lanes are added in a
//! fixed order, so that the compiler can use vector instructions and the result is the
//! same on every machine.

use std::{iter::Sum, ops::AddAssign};

/// The number of independent sums, side by side, so that their latencies overlap. It is
/// enough for several registers that hold a vector of f64, even on the oldest x86-64.
pub(super) const LANES: usize = 8;

/// A value for each lane.
pub(super) type Lanes = [f64; LANES];

/// Adds the lanes, in a tree.
pub(super) fn total(lanes: &Lanes) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The four sums from which noise, scale and angle are computed.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sums {
    pub yy: f64,
    pub rr: f64,
    pub yr: f64,
    /// Squared errors.
    pub ee: f64,
}

/// The same sums, while they are being added up.
#[derive(Clone, Copy, Default)]
pub(super) struct SumLanes {
    pub yy: Lanes,
    pub rr: Lanes,
    pub yr: Lanes,
    pub ee: Lanes,
}

impl SumLanes {
    pub fn total(&self) -> Sums {
        let Self { yy, rr, yr, ee } = self;
        Sums { yy: total(yy), rr: total(rr), yr: total(yr), ee: total(ee) }
    }

    /// At most one element for each lane.
    fn add(&mut self, y: &[f32], r: &[f32]) {
        for (lane, (&y, &r)) in y.iter().zip(r).enumerate() {
            let (y, r) = (f64::from(y), f64::from(r));
            self.yy[lane] += y * y;
            self.rr[lane] += r * r;
            self.yr[lane] += y * r;
            self.ee[lane] += (y - r) * (y - r);
        }
    }
}

impl Sums {
    /// Over two vectors of one length.
    pub fn of(y: &[f32], r: &[f32]) -> Self {
        let mut lanes = SumLanes::default();
        let (y, y_rest) = y.as_chunks::<LANES>();
        let (r, r_rest) = r.as_chunks::<LANES>();
        for (y, r) in y.iter().zip(r) {
            lanes.add(y, r);
        }
        lanes.add(y_rest, r_rest);
        lanes.total()
    }

    /// The SQNR in decibels: infinite without an error, and minus infinity for an error on
    /// a zero reference.
    pub fn sqnr_db(&self) -> f64 {
        if self.ee == 0.0 { f64::INFINITY } else { 10.0 * (self.rr / self.ee).log10() }
    }

    /// The slope. On a zero reference it is 1 for a zero output, otherwise infinite.
    pub fn slope(&self) -> f64 {
        match (self.rr == 0.0, self.yy == 0.0) {
            (false, _) => self.yr / self.rr,
            (true, true) => 1.0,
            (true, false) => f64::INFINITY,
        }
    }

    /// The cosine of the angle between the two vectors.
    pub fn cosine(&self) -> f64 {
        cosine_of(self.yr, self.yy, self.rr)
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.yy += other.yy;
        self.rr += other.rr;
        self.yr += other.yr;
        self.ee += other.ee;
    }
}

impl Sum for Sums {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}

/// The cosine from `<a,b>`, `<a,a>` and `<b,b>`, all finite.
fn cosine_of(ab: f64, aa: f64, bb: f64) -> f64 {
    match (aa == 0.0, bb == 0.0) {
        (true, true) => 1.0,
        (true, false) | (false, true) => 0.0,
        // There are two square roots because the product of the squares could overflow or
        // underflow. Rounding may leave the result just outside of -1..=1.
        (false, false) => (ab / (aa.sqrt() * bb.sqrt())).clamp(-1.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_fill_no_whole_lanes_are_summed_to_their_last_element() {
        for count in [1, 7, 8, 9, 20] {
            let y: Vec<f32> = (1..=count).map(|value| value as f32).collect();
            let r: Vec<f32> = y.iter().map(|value| value - 1.0).collect();
            let found = Sums::of(&y, &r);
            // Sums of squares: n (n + 1) (2n + 1) / 6.
            let squares = |n: i32| f64::from(n * (n + 1) * (2 * n + 1) / 6);
            assert_eq!((found.yy, found.rr), (squares(count), squares(count - 1)), "{count}");
            // sum of i (i - 1) is (n - 1) n (n + 1) / 3.
            let products = f64::from((count - 1) * count * (count + 1) / 3);
            assert_eq!((found.yr, found.ee), (products, f64::from(count)), "{count}");
        }
    }
}

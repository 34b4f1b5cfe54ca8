//! The angles of rotary positions, in the layout of the kernel's table.

use half::bf16;

/// Cosines and sines of the angles of each position.
pub(super) struct RopeTable {
    /// The angle per position of each pair of a head, in radians.
    frequencies: Vec<f64>,
}

impl RopeTable {
    /// Computes `theta ^ (-2 i / head_dim)` for each pair `i` of a head.
    pub(super) fn new(head_dim: usize, theta: f64) -> Self {
        let frequency = |pair: usize| theta.powf(-2.0 * pair as f64 / head_dim as f64);
        Self { frequencies: (0..head_dim / 2).map(frequency).collect() }
    }

    /// Appends the row of a position, `[head_dim]`: cosines, then sines.
    /// Angles are computed in f64, because those of late positions would be
    /// inaccurate in f32, and their cosines and sines are narrowed through f32,
    /// as in the kernels' own harness.
    pub(super) fn push_row(&self, pos: usize, row: &mut Vec<bf16>) {
        let angles = || self.frequencies.iter().map(|frequency| pos as f64 * frequency);
        row.extend(angles().map(|angle| bf16::from_f32(angle.cos() as f32)));
        row.extend(angles().map(|angle| bf16::from_f32(angle.sin() as f32)));
    }

    /// Returns the rows of the positions `0..positions`.
    pub(super) fn rows(&self, positions: usize) -> Vec<bf16> {
        let mut rows = Vec::with_capacity(positions * 2 * self.frequencies.len());
        (0..positions).for_each(|pos| self.push_row(pos, &mut rows));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_cosines_and_then_the_sines_of_the_angles() {
        let rows = RopeTable::new(4, 100.0).rows(3);
        // The pairs turn by 1 and by 1 / sqrt(100) radians per position.
        let expected = [2f32.cos(), 0.2f32.cos(), 2f32.sin(), 0.2f32.sin()].map(bf16::from_f32);
        assert_eq!(rows[8..], expected);
        assert_eq!(rows[..4], [1.0, 1.0, 0.0, 0.0].map(bf16::from_f32));
    }
}

//! The unit that every machine has: what the compiler makes of plain loops.

use super::{LeftPair, RightPair, Simd, Tile};

#[derive(Clone, Copy)]
pub(super) struct Scalar;

impl Simd for Scalar {
    fn multiply(self, a: &[LeftPair], b: &[RightPair], c: &mut Tile) {
        for (row, c) in c.0.iter_mut().enumerate() {
            for (a, b) in a.iter().zip(b) {
                let a = a.0[row];
                let (even, odd) = (f32::from_bits(a << 16), f32::from_bits(a & 0xFFFF_0000));
                for (c, &b) in c.iter_mut().zip(&b.0) {
                    *c += odd * f32::from_bits(b & 0xFFFF_0000);
                    *c += even * f32::from_bits(b << 16);
                }
            }
        }
    }
}

//! The unit that every machine has: what the compiler makes of plain loops.

use half::bf16;

use super::{LANES, LeftPair, RightPair, Simd, Tile};
use crate::rounding::widen;

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

    fn accumulate(self, a: &[[bf16; LANES]], x: &[[f32; LANES]], lanes: &mut [f32; LANES]) {
        for (a, x) in a.iter().zip(x) {
            for lane in 0..LANES {
                lanes[lane] += widen(a[lane]) * x[lane];
            }
        }
    }
}

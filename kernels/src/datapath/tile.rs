//! The operands and the result of the innermost matrix product.
//!
//! K is walked in pairs of bf16, the pair's even element in the lower half of a 32-bit word: the
//! operand format of `vdpbf16ps`, and one that every other unit widens with a shift and a mask.

use crate::Rounding;

/// Two neighbours along K of [`Tile::ROWS`] rows of the left matrix.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct LeftPair(pub [u32; Tile::ROWS]);

/// Two neighbours along K of [`Tile::COLS`] columns of the right matrix.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct RightPair(pub [u32; Tile::COLS]);

impl RightPair {
    pub(crate) const ZERO: Self = Self([0; Tile::COLS]);
}

/// A piece of the product, in f32.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Tile(pub [[f32; Self::COLS]; Self::ROWS]);

impl Tile {
    /// Rows.
    pub(crate) const ROWS: usize = 8;
    /// Columns.
    pub(crate) const COLS: usize = 32;
    /// All zero.
    pub(crate) const ZERO: Self = Self([[0.0; Self::COLS]; Self::ROWS]);

    /// Rounds every element to bf16.
    #[inline(always)]
    pub(crate) fn round(&mut self, rounding: Rounding) {
        rounding.round_slice(self.0.as_flattened_mut());
    }
}

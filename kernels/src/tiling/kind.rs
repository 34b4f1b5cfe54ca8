//! What the tilings of all kernels have in common.

use std::fmt;

/// How one kind of kernel is cut into tiles. It is printed as it stands beside a shape:
/// `32/256/32/128 8x4`.
pub(crate) trait TilingType: Copy + fmt::Display {
    /// What is printed, by the names of the fields.
    const PARTS: &'static str;

    /// Every extent, none of which may be 0.
    fn extents(&self) -> Vec<usize>;
}

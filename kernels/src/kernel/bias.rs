//! What a kernel declares about the mean of its errors.

use crate::rounding::Rounding;

/// Whether a kernel's errors average out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Bias {
    /// They average out: a mean that is large against their spread is a fault.
    None,
    /// The rounding mode or an approximation leans to one side, as the kernel declares.
    Declared,
}

impl Bias {
    /// The bias of a kernel on a core in mode `rounding`. Rounding to nearest averages out; every
    /// other mode leans to one side.
    #[must_use]
    pub const fn under(self, rounding: Rounding) -> Self {
        match rounding {
            Rounding::NearestEven => self,
            Rounding::Floor | Rounding::TowardZero => Self::Declared,
        }
    }
}

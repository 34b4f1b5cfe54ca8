//! How far an output may be from its f32 reference.

use serde::{Deserialize, Serialize};

/// How far an output may be from its reference: a kernel passes if every output element `y` is
/// close to its f32 reference `r`, `abs(y - r) <= atol + rtol * abs(r)`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative part, times the reference's magnitude.
    pub rtol: f32,
    /// Absolute part.
    pub atol: f32,
}

impl Tolerance {
    /// The tolerance of a kernel of the kernel registry of Xilinx/mlir-air, all of whose harnesses
    /// have one `rtol`: commit e972f294, `programming_examples/kernel_registry` and the kernels'
    /// `run.py`.
    pub(crate) const fn of_registry(atol: f32) -> Self {
        Self { rtol: 1.6e-2, atol }
    }

    /// Whether `found` is close enough to `reference`. NaN never is.
    pub fn accepts(&self, found: f32, reference: f32) -> bool {
        let error = (f64::from(found) - f64::from(reference)).abs();
        error <= f64::from(self.atol) + f64::from(self.rtol) * f64::from(reference).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_never_accepted() {
        let tolerance = Tolerance { rtol: 1.0, atol: f32::MAX };
        assert!(!tolerance.accepts(f32::NAN, 0.0) && !tolerance.accepts(0.0, f32::NAN));
    }
}

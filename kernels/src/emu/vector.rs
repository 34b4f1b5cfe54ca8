//! The vector units of the host's CPU, and the one place where one is chosen.

use std::{fmt, str::FromStr};

/// A vector unit that this machine has. It can only be obtained by detection, so holding one proves that
/// its instructions may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct VectorUnit(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Kind {
    Scalar,
}

impl VectorUnit {
    /// The fastest unit of this machine.
    pub fn detect() -> Self {
        Self(Kind::Scalar)
    }

    /// All units of this machine, fastest first; the last is `scalar`.
    pub fn available() -> Vec<Self> {
        vec![Self(Kind::Scalar)]
    }

    /// `avx512bf16`, `avx2`, `neon` or `scalar`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Scalar => "scalar",
        }
    }
}

impl fmt::Display for VectorUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A vector unit that this machine does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("this machine has no vector unit `{0}`; it has {available}", available = list())]
pub struct VectorUnitError(pub String);

fn list() -> String {
    VectorUnit::available().iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for VectorUnit {
    type Err = VectorUnitError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let found = Self::available().into_iter().find(|unit| unit.name() == s);
        found.ok_or_else(|| VectorUnitError(s.to_owned()))
    }
}

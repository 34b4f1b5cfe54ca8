//! Element types of a buffer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of a buffer's elements.
///
/// Every kernel of the registry reads bf16; f32 appears only as a GEMM's output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// bfloat16: the upper half of an IEEE binary32.
    Bf16,
    /// IEEE binary32.
    F32,
}

impl DType {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
        })
    }
}

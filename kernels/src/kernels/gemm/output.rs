//! The methods of a GEMM.

use serde::{Deserialize, Serialize};

use super::tier::Tier;
use crate::dtype::DType;

/// How a GEMM's f32 accumulator becomes its output: the registry's methods, by its name of each
/// ([`method`](Self::method)) and the type of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GemmOutput {
    /// C is f32 and is accumulated by the hand-written `mm.o` over all of K: no narrowing at all.
    F32External,
    /// C is f32, accumulated by code of the compiler. Its arithmetic is
    /// [`F32External`](Self::F32External)'s: the registry's figures of the two are the same at
    /// every shape for which it has both.
    F32Direct,
    /// C is bf16, narrowed once, in the core that accumulated it.
    Drain,
    /// C is bf16, narrowed once, by a separate cast launch on its own core.
    FusedCast,
    /// C is bf16 and is the accumulator too: re-rounded after every [`Gemm::TILE_K_L1`](super::Gemm::TILE_K_L1) of K.
    Direct,
}

impl GemmOutput {
    /// All methods.
    pub const ALL: [Self; 5] =
        [Self::F32External, Self::F32Direct, Self::Drain, Self::FusedCast, Self::Direct];

    /// The registry's name of the method, on the page of its output type: two methods are
    /// `direct`, one of each type.
    pub const fn method(self) -> &'static str {
        match self {
            Self::F32External => "external",
            Self::F32Direct | Self::Direct => "direct",
            Self::Drain => "drain",
            Self::FusedCast => "fused-cast",
        }
    }

    /// The method's name in the registry's files and the names of rows, which tells the two
    /// `direct` methods apart.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32External => "f32-external",
            Self::F32Direct => "f32-direct",
            Self::Drain => "drain",
            Self::FusedCast => "fused-cast",
            Self::Direct => "direct",
        }
    }

    /// The registry's accuracy tier.
    pub const fn tier(self) -> Tier {
        match self {
            Self::F32External | Self::F32Direct | Self::Drain | Self::FusedCast => Tier::High,
            Self::Direct => Tier::Low,
        }
    }

    /// Element type of C.
    pub const fn dtype(self) -> DType {
        match self {
            Self::F32External | Self::F32Direct => DType::F32,
            Self::Drain | Self::FusedCast | Self::Direct => DType::Bf16,
        }
    }
}

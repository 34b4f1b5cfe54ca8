//! How a kernel is cut into tiles, and which cuts the fabric can run.
//!
//! The rules are those of the kernel registry of Xilinx/mlir-air (commit e972f294), in the form
//! that all of its measured rows satisfy and all of its known-corrupt configurations break. Each is
//! a [`Rule`] with a name and an explanation.
//!
//! The fabric of an NPU2 is 8 columns of 4 compute tiles. A compute tile has 64 KB of memory (L1),
//! and each column has one memory tile of 512 KB (L2).

mod choose;
pub(crate) mod elementwise;
pub(crate) mod kind;
pub(crate) mod require;
pub(crate) mod rows;
pub(crate) mod rule;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use rule::{Illegal, Rule};

use crate::kernels::{FlashAttentionTiling, GemmTiling, GemvTiling, RopeTiling};
use elementwise::ElementwiseTiling;
use kind::TilingType;
use rows::NormTiling;

/// Declares the kinds of tilings: one line for each.
macro_rules! tilings {
    ($($(#[$doc:meta])* $Kind:ident($Tiling:ident),)+) => {
        /// How a kernel is cut into tiles.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Tiling {
            $($(#[$doc])* $Kind($Tiling),)+
        }

        $(
            impl From<$Tiling> for Tiling {
                fn from(tiling: $Tiling) -> Self {
                    Self::$Kind(tiling)
                }
            }

            impl<'a> TryFrom<&'a Tiling> for &'a $Tiling {
                /// The tiling is of another kind.
                type Error = ();

                fn try_from(tiling: &'a Tiling) -> Result<Self, ()> {
                    match tiling {
                        Tiling::$Kind(tiling) => Ok(tiling),
                        _ => Err(()),
                    }
                }
            }
        )+

        impl Tiling {
            /// Every extent.
            fn extents(&self) -> Vec<usize> {
                match self {
                    $(Self::$Kind(tiling) => tiling.extents(),)+
                }
            }

            /// The tiling without the name of its kind.
            pub(crate) fn serialize_bare<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$Kind(tiling) => tiling.serialize(serializer),)+
                }
            }
        }

        /// As it is printed beside a shape: `32/256/32/128 8x4`.
        impl fmt::Display for Tiling {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = match self {
                    $(Self::$Kind(tiling) => tiling.to_string(),)+
                };
                f.pad(&text)
            }
        }
    };
}

tilings! {
    /// Of a matrix product.
    Gemm(GemmTiling),
    /// Of a matrix-vector product.
    Gemv(GemvTiling),
    /// Of a norm or a softmax.
    Norm(NormTiling),
    /// Of a rotary position embedding.
    Rope(RopeTiling),
    /// Of an element-wise kernel.
    Elementwise(ElementwiseTiling),
    /// Of attention.
    FlashAttention(FlashAttentionTiling),
}

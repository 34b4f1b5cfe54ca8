//! The kernels, one a file, and the one list of them.
//!
//! To add a kernel, write its file and add its line to [`for_each_kernel!`]; the compiler reports
//! what else is missing.

// Portable code must be inlined into the function that enables a vector unit's instructions, or it
// is compiled without them: `datapath::vector::Task`.
#![allow(clippy::inline_always)]

mod add;
pub(crate) mod flash_attention;
mod gelu;
pub(crate) mod gemm;
mod gemv;
mod layer_norm;
mod mul;
mod rms_norm;
mod rope;
mod silu_mul;
pub(crate) mod softmax;
#[cfg(test)]
mod tests;

pub use add::Add;
pub use flash_attention::{
    AttentionShape, FlashAttention, layout::AttentionLayout, mask::Mask,
    tiling::FlashAttentionTiling,
};
pub use gelu::Gelu;
pub use gemm::{
    Gemm, GemmShape,
    output::GemmOutput,
    tier::{Tier, UnknownTier},
    tiling::GemmTiling,
};
pub use gemv::{Gemv, GemvShape, tiling::GemvTiling};
pub use layer_norm::LayerNorm;
pub use mul::Mul;
pub use rms_norm::RmsNorm;
pub use rope::{Rope, RopeShape, RopeTiling};
pub use silu_mul::SiluMul;
pub use softmax::Softmax;

/// Calls the macro in brackets with the arguments in braces and then the list of kernels: `Op`,
/// `Kernel` and `Shape` have a variant of each, in this order, that of `Shape` with the type beside
/// it.
macro_rules! for_each_kernel {
    ([$($then:tt)+] { $($args:tt)* }) => {
        $($then)+! {
            { $($args)* }
            /// Matrix product.
            Gemm: GemmShape,
            /// Matrix-vector product.
            Gemv: GemvShape,
            /// Root-mean-square normalisation of rows.
            RmsNorm: RowsShape,
            /// Rotary position embedding, half-split.
            Rope: RopeShape,
            /// Grouped-query attention with an online softmax.
            FlashAttention: AttentionShape,
            /// `silu(gate) * up`.
            SiluMul: FlatShape,
            /// Element-wise sum.
            Add: FlatShape,
            /// Element-wise product.
            Mul: FlatShape,
            /// Normalisation of rows to mean 0 and variance 1, with weight and bias.
            LayerNorm: RowsShape,
            /// GELU in its tanh form.
            Gelu: FlatShape,
            /// Softmax of rows.
            Softmax: RowsShape,
        }
    };
}

pub(crate) use for_each_kernel;

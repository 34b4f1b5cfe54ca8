//! The names of the kernels.

use std::{fmt, str::FromStr};

/// A kernel of the registry, without a shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kernel {
    /// Matrix product.
    Gemm,
    /// Matrix-vector product.
    Gemv,
    /// Root-mean-square normalisation.
    RmsNorm,
    /// Rotary position embedding.
    Rope,
    /// Attention with an online softmax.
    FlashAttention,
    /// `silu(gate) * up`.
    SiluMul,
    /// Element-wise sum.
    Add,
    /// Normalisation to mean 0 and variance 1.
    LayerNorm,
    /// GELU in its tanh form.
    Gelu,
    /// Softmax of rows.
    Softmax,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Self; 10] = [
        Self::Gemm,
        Self::Gemv,
        Self::RmsNorm,
        Self::Rope,
        Self::FlashAttention,
        Self::SiluMul,
        Self::Add,
        Self::LayerNorm,
        Self::Gelu,
        Self::Softmax,
    ];

    /// The name, as in test names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Gemv => "gemv",
            Self::RmsNorm => "rms_norm",
            Self::Rope => "rope",
            Self::FlashAttention => "flash_attention",
            Self::SiluMul => "silu_mul",
            Self::Add => "add",
            Self::LayerNorm => "layer_norm",
            Self::Gelu => "gelu",
            Self::Softmax => "softmax",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no kernel's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no kernel; the kernels are gemm, gemv, rms_norm, rope, flash_attention, silu_mul, add, \
     layer_norm, gelu and softmax"
)]
pub struct UnknownKernel(pub String);

impl FromStr for Kernel {
    type Err = UnknownKernel;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|k| k.name() == s).ok_or_else(|| UnknownKernel(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_its_name() {
        for kernel in Kernel::ALL {
            assert_eq!(kernel.to_string().parse(), Ok(kernel));
        }
        assert!("gem".parse::<Kernel>().unwrap_err().to_string().contains("`gem`"));
    }
}

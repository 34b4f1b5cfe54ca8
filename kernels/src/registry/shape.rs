//! The dimensions of a row, typed by kernel.

use std::{fmt, str::FromStr};

use crate::{
    kernel::{FlatShape, KernelSpec, RowsShape, ShapeType},
    kernels::{self, AttentionShape, GemmOutput, GemmShape, GemvShape, RopeShape, for_each_kernel},
    op::{Kernel, Op},
};

macro_rules! define {
    ({} $($(#[$doc:meta])* $Kernel:ident: $Shape:ident,)+) => {
        /// A kernel and its dimensions: what a configuration is asked for. A GEMM's method is not
        /// part of it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Shape {
            $($(#[$doc])* $Kernel($Shape),)+
        }

        impl Shape {
            /// The shape of `op`, as the registry counts it: a `RoPE` of t tokens with h heads is
            /// `t * h` rows, element-wise kernels are flat, attention has no layout, and a norm has no
            /// epsilon.
            pub fn of(op: &Op) -> Self {
                match op {
                    $(Op::$Kernel(kernel) => Self::$Kernel(kernel.shape()),)+
                }
            }

            /// The op of this shape as the registry measures it: element-wise kernels on one row,
            /// `RoPE` with one head a token, attention heads first, norms with an epsilon of 1e-5.
            /// `None` if a kernel with several methods is not given one, or any other kernel is
            /// given one.
            pub(super) fn op(&self, method: Option<GemmOutput>) -> Option<Op> {
                match *self {
                    $(Self::$Kernel(shape) => {
                        measured::<kernels::$Kernel>(shape, method).map(Op::$Kernel)
                    })+
                }
            }

            /// Which kernel this is a shape of.
            pub const fn kernel(&self) -> Kernel {
                match self {
                    $(Self::$Kernel(_) => Kernel::$Kernel,)+
                }
            }

            /// Reads the dimensions of a kernel.
            fn parse(kernel: Kernel, key: &str) -> Option<Self> {
                match kernel {
                    $(Kernel::$Kernel => ShapeType::parse(key).map(Self::$Kernel),)+
                }
            }
        }
    };
}

for_each_kernel!([define] {});

/// Evaluates an expression with the dimensions of a shape.
macro_rules! with_shape {
    ($shape:expr, $dimensions:ident => $body:expr) => {
        $crate::kernels::for_each_kernel!([$crate::registry::shape::with_shape_arms] { $shape, $dimensions => $body })
    };
}

macro_rules! with_shape_arms {
    (
        { $shape:expr, $dimensions:ident => $body:expr }
        $($(#[$doc:meta])* $Kernel:ident: $Shape:ident,)+
    ) => {
        match $shape {
            $($crate::registry::Shape::$Kernel($dimensions) => $body,)+
        }
    };
}

pub(super) use {with_shape, with_shape_arms};

fn measured<K: KernelSpec>(shape: K::Shape, method: Option<GemmOutput>) -> Option<K> {
    match method {
        None if K::METHODS.is_empty() => Some(K::from_shape(shape)),
        Some(method) if K::METHODS.contains(&method) => {
            Some(K::from_shape(shape).with_method(method))
        }
        _ => None,
    }
}

impl Shape {
    /// The dimensions, in the order of the name; a mask without a window has one of all tokens.
    pub(super) fn dimensions(&self) -> Vec<usize> {
        with_shape!(self, shape => shape.dimensions())
    }

    /// What distinguishes shapes beyond their dimensions, such as the kind of a mask.
    pub(super) fn variant(&self) -> usize {
        with_shape!(self, shape => shape.variant())
    }

    /// How far apart two shapes of one kernel are: the sum over the dimensions of `|log2(a / b)|`,
    /// so that 1 is a doubling of one of them, and 1 more if their masks differ in kind. `None` for
    /// shapes of different kernels.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        if self.kernel() != other.kernel() {
            return None;
        }
        let ratio = |(a, b): (usize, usize)| (a.max(1) as f64 / b.max(1) as f64).log2().abs();
        let dimensions = self.dimensions().into_iter().zip(other.dimensions());
        let variants = usize::from(self.variant() != other.variant());
        Some(dimensions.map(ratio).sum::<f64>() + variants as f64)
    }
}

/// As in names: `gemm::2048x2048x512`, `flash_attention::s2048_d64_q14_kv2_causal`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::", self.kernel().name())?;
        with_shape!(self, shape => shape.fmt(f))
    }
}

/// Text that does not name a shape.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not a shape; write the kernel and its dimensions as in the registry's names, such as \
     gemm::2048x2048x512, gemv::2048x8192, rms_norm::2048x2048, add::4194304, rope::65536_d64 or \
     flash_attention::s2048_d64_q14_kv2_causal"
)]
pub struct UnknownShape(pub String);

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let shape = s.split_once("::").and_then(|(kernel, key)| {
            let kernel = kernel.parse().ok()?;
            Self::parse(kernel, key)
        });
        shape.ok_or_else(|| UnknownShape(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Add, Rope};

    const NAMES: [&str; 13] = [
        "gemm::2048x2048x512",
        "gemv::2048x8192",
        "rms_norm::2048x2048",
        "layer_norm::1024x768",
        "softmax::256x512",
        "rope::65536_d64",
        "rope::512_d128_r96",
        "silu_mul::4194304",
        "gelu::1048576",
        "add::245760",
        "flash_attention::s2048_d64_q14_kv2_causal",
        "flash_attention::s512_d128_q28_kv4_full",
        "flash_attention::s512_d64_q9_kv3_causal_w128",
    ];

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in NAMES {
            let shape: Shape = name.parse().unwrap();
            assert_eq!(shape.to_string(), name);
        }
    }

    #[test]
    fn half_a_name_is_not_a_shape() {
        for name in ["gemm", "gemm::", "gemm::2x3", "gem::2x3x4", "add::+1", "rope::8_d64_r32_x"] {
            let error = name.parse::<Shape>().unwrap_err();
            assert!(error.to_string().contains("such as gemm::2048x2048x512"), "{error}");
        }
        assert!("flash_attention::s1_d64_q1_kv1_banded".parse::<Shape>().is_err());
    }

    #[test]
    fn an_op_and_its_shape_convert_into_each_other() {
        for name in NAMES {
            let shape: Shape = name.parse().unwrap();
            let method = (shape.kernel() == Kernel::Gemm).then_some(GemmOutput::Drain);
            assert_eq!(Shape::of(&shape.op(method).unwrap()), shape, "{name}");
            let other = if method.is_some() { None } else { Some(GemmOutput::Drain) };
            assert_eq!(shape.op(other), None, "{name}");
        }
    }

    #[test]
    fn a_rope_has_one_row_for_each_head_of_each_token() {
        let rope = Op::Rope(Rope { tokens: 2048, heads: 32, head_dim: 64, rotary_dim: 64 });
        assert_eq!(Shape::of(&rope).to_string(), "rope::65536_d64");
        let add = Op::Add(Add { rows: 2048, cols: 2048 });
        assert_eq!(Shape::of(&add).to_string(), "add::4194304");
    }

    #[test]
    fn distance_counts_doublings() {
        let shape = |name: &str| name.parse::<Shape>().unwrap();
        let gemm = shape("gemm::2048x2048x512");
        assert_eq!(gemm.distance(&shape("gemm::1024x4096x512")), Some(2.0));
        assert_eq!(gemm.distance(&shape("gemv::2048x2048")), None);
        let attention = shape("flash_attention::s512_d64_q2_kv2_full");
        let causal = shape("flash_attention::s512_d64_q4_kv2_causal");
        assert_eq!(attention.distance(&causal), Some(2.0));
    }
}

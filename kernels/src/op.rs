//! The kernels as values: what a launch computes, and on which shape.
//!
//! Parameters, layouts and legality follow the kernel registry of Xilinx/mlir-air (commit
//! e972f294).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    kernel::{Bias, KernelSpec, OpError, Operand},
    kernels::{self, GemmOutput, for_each_kernel},
    rounding::Rounding,
};

macro_rules! define {
    ({} $($(#[$doc:meta])* $Kernel:ident: $Shape:ident,)+) => {
        /// A kernel with its shape: what one launch computes.
        #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
        pub enum Op {
            $($(#[$doc])* $Kernel(kernels::$Kernel),)+
        }

        /// A kernel without a shape.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        pub enum Kernel {
            $($(#[$doc])* $Kernel,)+
        }

        impl Op {
            /// Which kernel this is.
            pub fn kind(&self) -> Kernel {
                match self {
                    $(Self::$Kernel(_) => Kernel::$Kernel,)+
                }
            }
        }

        impl Kernel {
            /// All kernels.
            pub const ALL: [Self; [$(Self::$Kernel),+].len()] = [$(Self::$Kernel),+];

            /// The name, as in test names.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Kernel => <kernels::$Kernel as KernelSpec>::NAME,)+
                }
            }
        }

        $(
            impl From<kernels::$Kernel> for Op {
                fn from(kernel: kernels::$Kernel) -> Self {
                    Self::$Kernel(kernel)
                }
            }
        )+
    };
}

for_each_kernel!([define] {});

/// Evaluates an expression with the kernel of an op: `with_op!(op, kernel => kernel.check())`.
macro_rules! with_op {
    ($op:expr, $kernel:ident => $body:expr) => {
        $crate::kernels::for_each_kernel!([$crate::op::with_op_arms] { $op, $kernel => $body })
    };
}

macro_rules! with_op_arms {
    ({ $op:expr, $kernel:ident => $body:expr } $($(#[$doc:meta])* $Kernel:ident: $Shape:ident,)+) => {
        match $op {
            $($crate::op::Op::$Kernel($kernel) => $body,)+
        }
    };
}

/// Evaluates an expression with the type of a kernel:
/// `with_kernel!(kernel, Spec => Spec::EXACT_INTEGERS)`.
macro_rules! with_kernel {
    ($kernel:expr, $Spec:ident => $body:expr) => {
        $crate::kernels::for_each_kernel!([$crate::op::with_kernel_arms] { $kernel, $Spec => $body })
    };
}

macro_rules! with_kernel_arms {
    ({ $kernel:expr, $Spec:ident => $body:expr } $($(#[$doc:meta])* $Kernel:ident: $Shape:ident,)+) => {
        match $kernel {
            $($crate::op::Kernel::$Kernel => {
                type $Spec = $crate::kernels::$Kernel;
                $body
            })+
        }
    };
}

pub(crate) use {with_kernel, with_kernel_arms, with_op, with_op_arms};

impl Op {
    /// The kernel's name, as in test names: `gemm`, `rms_norm`, ...
    pub fn kernel(&self) -> &'static str {
        self.kind().name()
    }

    /// The shape as in test names, in the kernel's own form: `256x576x1536` (M, K, N), `16384x576`
    /// (M, K), `t256_h9_d64`, `s256_d64_q9_kv3_causal`.
    pub fn shape_key(&self) -> String {
        with_op!(self, kernel => kernel.shape_key())
    }

    /// The registry's accuracy tier, for the kernel that has several (GEMM): `high` or `low`.
    pub fn tier(&self) -> Option<&'static str> {
        with_op!(self, kernel => kernel.tier())
    }

    /// The method by which the output is narrowed, for the kernel that has several (GEMM).
    pub fn method(&self) -> Option<GemmOutput> {
        with_op!(self, kernel => kernel.method())
    }

    /// The sizes under the names that they have in the op's record, `m`, `head_dim`, sorted by
    /// name.
    pub fn dimensions(&self) -> Vec<(String, u64)> {
        // This does not fail: plain data has no map whose keys JSON cannot represent.
        let record = serde_json::to_value(self).unwrap_or_default();
        let fields = record.as_object().into_iter().flat_map(|op| op.values());
        let fields = fields.filter_map(serde_json::Value::as_object).flatten();
        fields.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
    }

    /// Elements of a head, if a row of the output consists of heads side by side.
    pub fn head_dim(&self) -> Option<usize> {
        with_op!(self, kernel => KernelSpec::head_dim(kernel))
    }

    /// The operands in argument order: those read first, the one written last.
    pub fn operands(&self) -> Vec<Operand> {
        with_op!(self, kernel => kernel.operands())
    }

    /// Checks whether the kernel can be built for this shape at all. Whether a tiling of it fits
    /// the fabric is another question, which depends on the tile sizes that a build chooses.
    ///
    /// # Errors
    /// [`OpError::Zero`], [`OpError::NotMultiple`] or [`OpError::Unsupported`].
    pub fn check(&self) -> Result<(), OpError> {
        with_op!(self, kernel => kernel.check())
    }

    /// The same kernel with so few rows that a run takes almost no time: the reduced dimension, the
    /// width of a row, heads and masks are kept. An op that is small enough is returned unchanged,
    /// and a legal op ([`check`](Self::check)) yields a legal one.
    ///
    /// A GEMM keeps 128 rows, a GEMV 512, attention 256 tokens, every other kernel 16 rows (`RoPE`:
    /// tokens).
    #[must_use]
    pub fn smoke(&self) -> Self {
        with_op!(self, kernel => kernel.smoke().into())
    }

    /// The lowest acceptable SQNR of the output in decibels against the f32 reference.
    pub fn sqnr_floor(&self) -> f64 {
        with_op!(self, kernel => kernel.sqnr_floor())
    }

    /// Whether the output's errors average out on a core in mode `rounding`.
    pub fn bias(&self, rounding: Rounding) -> Bias {
        with_kernel!(self.kind(), Spec => Spec::BIAS).under(rounding)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no kernel has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a kernel; the kernels are {names}", names = names())]
pub struct UnknownKernel(pub String);

/// `gemm, gemv, ... and softmax`.
fn names() -> String {
    let names = Kernel::ALL.map(Kernel::name);
    match names.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|k| k.name() == s).ok_or_else(|| UnknownKernel(s.to_owned()))
    }
}

//! A kernel at a shape, as the kernel checks see it.

use crate::schema::{Attributes, CheckId};
use crate::{Context, DType, RunError, Tensor};
use std::fmt;

/// One kernel at one shape, which a `kernel::...` test gates. An adapter lists one for
/// every distinct launch of its programs.
pub trait Kernel: Send + Sync {
    /// Names the test.
    fn id(&self) -> KernelId;

    /// What filter expressions can ask for: `op`, `tier`, and the dimensions under the
    /// names that the op gives them, such as `m` and `n`.
    fn attributes(&self) -> Attributes {
        self.id().attributes()
    }

    /// The dtype that the kernel declares to write.
    fn output_dtype(&self) -> DType {
        DType::Bf16
    }

    /// The tolerance that the full output is held to, element by element.
    fn tolerance(&self) -> Tolerance;

    /// Draws inputs. The same draw always gives the same inputs. `None` if this kernel
    /// has no such inputs (a kernel with a square root has no exact integers).
    fn inputs(&self, draw: Draw) -> Option<Vec<Tensor>>;

    /// The output in f32 for the same inputs, by a method that shares no code with the
    /// device.
    ///
    /// # Errors
    ///
    /// Inputs that do not fit the kernel.
    fn reference(&self, inputs: &[Tensor]) -> Result<Tensor, RunError>;

    /// The output on the device; called once for each set of inputs. The device is
    /// opened here, never before.
    ///
    /// # Errors
    ///
    /// A device that cannot be opened or fails.
    fn run(&self, context: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError>;

    /// The width of a head, if the output's rows are heads side by side. Each head is
    /// then judged on its own as well.
    fn head_dim(&self) -> Option<usize> {
        None
    }

    /// Whether the kernel's errors must average out, as those of a kernel that rounds to
    /// nearest and approximates nothing do.
    fn bias(&self) -> Bias {
        Bias::Declared
    }

    /// The lowest acceptable SQNR of the output against the f32 reference, in decibels,
    /// if the kernel declares one.
    fn sqnr_floor(&self) -> Option<f64> {
        None
    }
}

/// What a kernel declares about the mean of its errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bias {
    /// Errors average out: the gate compares their mean with their spread.
    None,
    /// The rounding mode or an approximation leans to one side, and the kernel
    /// declares it: the figure is only recorded.
    Declared,
}

/// The name of a kernel test: `kernel::{op}::{shape}` and, if the op has tiers,
/// `::{tier}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[non_exhaustive]
pub struct KernelId {
    /// The operation: `gemm`.
    pub op: String,
    /// The shape: `2048x576x1536`.
    pub shape: String,
    /// The precision tier: `high`.
    pub tier: Option<String>,
}

impl KernelId {
    /// A kernel without tiers: `gelu`, `2048x1536`.
    pub fn new(op: impl Into<String>, shape: impl Into<String>) -> Self {
        Self { op: op.into(), shape: shape.into(), tier: None }
    }

    /// The same in a precision tier.
    #[must_use]
    pub fn tier(mut self, tier: impl Into<String>) -> Self {
        self.tier = Some(tier.into());
        self
    }

    /// The attributes in the name: `op`, and `tier` if there is one.
    pub fn attributes(&self) -> Attributes {
        let tier = self.tier.as_ref().map(|tier| ("tier".to_owned(), tier.as_str().into()));
        [("op".to_owned(), self.op.as_str().into())].into_iter().chain(tier).collect()
    }
}

impl fmt::Display for KernelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tier = self.tier.as_ref().map(|tier| format!("::{tier}")).unwrap_or_default();
        f.pad(&CheckId::Kernel.pattern().test(&format!("{}::{}{tier}", self.op, self.shape)))
    }
}

/// Which inputs to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Signed values from the distribution that the kernel's published figures were
    /// measured on.
    Registry {
        /// Seed; printed with a failure.
        seed: u64,
    },
    /// Values in {-1, 0, 1} such that every result is an integer with a magnitude of at
    /// most 256, which bf16 holds exactly: the output must be bit-equal.
    Integers {
        /// Seed; printed with a failure.
        seed: u64,
    },
}

/// How far an element may be from its reference: it passes if
/// `abs(y - r) <= atol + rtol * abs(r)`, as in numpy's `isclose`. NaN never passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The relative part.
    pub rtol: f32,
    /// The absolute part, in the unit of the output.
    pub atol: f32,
}

impl Tolerance {
    /// Whether a device value is acceptable for a reference value.
    pub fn accepts(&self, device: f32, reference: f32) -> bool {
        let (y, r) = (f64::from(device), f64::from(reference));
        self.allows((y - r).abs(), r.abs())
    }

    /// Whether an absolute error is acceptable for a reference of this magnitude.
    pub(crate) fn allows(self, error: f64, magnitude: f64) -> bool {
        error <= f64::from(self.atol) + f64::from(self.rtol) * magnitude
    }
}

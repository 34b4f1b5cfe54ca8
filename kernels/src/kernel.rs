//! What a kernel is: everything that the rest of the crate needs from one.
//!
//! Each kernel is one file of `kernels/`: a struct that is its shape, and its [`KernelSpec`]. Code
//! that several kernels share is beside this file, in [`tiling`](crate::tiling) and in the
//! datapaths' parts; none of it depends on which kernels exist.

mod bias;
mod error;
mod inputs;
pub(crate) mod legality;
mod operand;
pub(crate) mod product;
mod shape;
mod tolerance;

use std::fmt;

use half::bf16;

pub use bias::Bias;
pub use error::OpError;
pub use inputs::EXACT_K;
pub(crate) use inputs::Inputs;
pub use operand::{Access, Operand};
pub use shape::{FlatShape, RowsShape};
pub(crate) use shape::{ShapeType, number};
pub use tolerance::Tolerance;

use crate::{
    datapath::{Datapath, Prepare},
    fidelity::band::Band,
    kernels::gemm::output::GemmOutput,
    registry::figures::Figure,
    rounding::Rounding,
    tiling::{kind::TilingType, rule::Broken},
};

/// A kernel at a shape.
///
/// An implementation is the whole kernel. Items with a default hold for most kernels; items without
/// one must be decided for each kernel.
pub(crate) trait KernelSpec: Copy + PartialEq + fmt::Debug {
    // What it is called and what it takes.

    /// The name, as in test names: `rms_norm`.
    const NAME: &'static str;

    /// The shape as in test names: `256x576x1536`.
    fn shape_key(&self) -> String;

    /// The registry's accuracy tier, for a kernel that has several: `high` or `low`.
    fn tier(&self) -> Option<&'static str> {
        None
    }

    /// The operands in argument order: those that are read first, the one that is written last.
    fn operands(&self) -> Vec<Operand>;

    /// Elements of a head, if a row of the output consists of heads side by side.
    fn head_dim(&self) -> Option<usize> {
        None
    }

    /// Whether the kernel can be built for this shape at all.
    ///
    /// # Errors
    /// If it cannot be built for a dimension; the error names the first.
    fn check(&self) -> Result<(), OpError>;

    /// The same kernel on few rows, for a quick look: the reduced dimension, the width of a row,
    /// heads and masks are kept.
    fn smoke(&self) -> Self;

    // What it should compute, and how far off it may be.

    /// The output in f32: no BFP16, no narrowing inside.
    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32>;

    /// The standard deviation of the values that the registry's harness draws.
    fn scale(&self) -> f32 {
        1.0
    }

    /// The values of an operand that the registry's harness computes in place of drawing them.
    fn computed_input(&self, operand: &str) -> Option<Vec<bf16>> {
        let _ = operand;
        None
    }

    /// Whether the kernel must equal its reference bit for bit, in every rounding mode, on inputs
    /// of {-1, 0, 1} of which [`nonzero_integers`](Self::nonzero_integers) are not zero.
    const EXACT_INTEGERS: bool;

    /// Elements of an operand, from its first on, that may be other integers than zero.
    fn nonzero_integers(&self, operand: &str) -> usize {
        let _ = operand;
        usize::MAX
    }

    /// The tolerance that the kernel's source publishes.
    fn published_tolerance(&self) -> Tolerance;

    /// The tolerance to gate with, where it is not the published one.
    fn tolerance(&self) -> Tolerance {
        self.published_tolerance()
    }

    /// The lowest acceptable SQNR in decibels against the f32 reference.
    fn sqnr_floor(&self) -> f64;

    /// Whether the kernel's errors average out when it rounds to nearest.
    const BIAS: Bias;

    // How it is built.

    /// How it is cut into tiles.
    type Tiling: TilingType;

    /// Tilings to propose, the best first. Those that are not legal are skipped.
    fn tilings(&self) -> impl Iterator<Item = Self::Tiling>;

    /// Whether the kernel can be built with a tiling, no extent of which is 0.
    ///
    /// # Errors
    /// The first rule that the tiling breaks.
    fn check_tiling(&self, tiling: &Self::Tiling) -> Result<(), Broken>;

    /// Whether a tiling that is legal by itself is legal as one of several `launches` of a program.
    ///
    /// # Errors
    /// The rule that it breaks.
    fn check_fused(&self, tiling: &Self::Tiling, launches: usize) -> Result<(), Broken> {
        let _ = (tiling, launches);
        Ok(())
    }

    /// A problem that is reported for a tiling in a program of several launches, but is not
    /// understood well enough to refuse the tiling.
    fn fused_note(&self, tiling: &Self::Tiling) -> Option<&'static str> {
        let _ = tiling;
        None
    }

    /// The rounding mode that the toolchain of the registry's figures leaves on the kernel's core:
    /// floor, the value after reset, unless the kernel sets another.
    ///
    /// Found by matching each mode to the published accuracy.
    fn core_rounding(&self) -> Rounding {
        Rounding::Floor
    }

    // What the registry knows about it.

    /// The dimensions by which the registry distinguishes rows.
    type Shape: ShapeType;

    /// The kernel's rows, `registry/NAME.json`, if there are any.
    const ROWS: Option<&'static str> = None;

    /// The methods that a row may have, for a kernel that has several.
    const METHODS: &'static [GemmOutput] = &[];

    /// The shape as the registry counts it.
    fn shape(&self) -> Self::Shape;

    /// The kernel as the registry measures a shape, by any of its methods.
    fn from_shape(shape: Self::Shape) -> Self;

    /// The method, if the kernel has several.
    fn method(&self) -> Option<GemmOutput> {
        None
    }

    /// The same kernel by another of its [`METHODS`](Self::METHODS). They share their f32
    /// reference.
    #[must_use]
    fn with_method(self, method: GemmOutput) -> Self {
        let _ = method;
        self
    }

    // How near the emulated NPU is to silicon.

    /// What the emulated NPU must show where silicon showed a `mean_rel_l1` of `published`.
    fn band(&self, published: Figure) -> Band;

    /// The key of the inputs that the published figures were measured on, which methods and masks
    /// share; `None` if none were published for such a shape.
    fn published_inputs(&self) -> Option<String>;

    /// About how many products a run takes, if they are most of its time.
    fn products(&self) -> f64 {
        0.0
    }

    // What the emulated NPU runs.

    /// The datapath under the rounding mode and with the functions of `prepare`.
    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath>;

    /// Shapes to test the kernel at: for each path through the datapath, one that leaves a
    /// remainder in every direction; and one that is split into more pieces than there are threads.
    #[cfg(test)]
    fn samples() -> Vec<Self>;
}

/// A floor of SQNR in decibels for kernels without one of their own: llama.cpp's limit of 5e-4 for
/// the normalised mean squared error of an operation, which floor rounding and the hardware's tanh
/// keep as well.
pub(crate) const SQNR_FLOOR: f64 = 33.0;

/// Rows of a kernel in a smoke test: eight tiles, two rows each.
pub(crate) const SMOKE_ROWS: usize = 16;

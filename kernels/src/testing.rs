//! What the tests of kernels share: a case of a kernel, and the faults that all gates must catch.

use crate::{
    DType, EmulatorOptions, Rounding, Tensor, Toolchain,
    inputs::{Draw, draw},
    kernel::KernelSpec,
    op::Op,
    reference, registry,
};
pub(crate) use support::{launch, launch_with, mean_rel_l1, narrowed};

#[path = "../tests/support/mod.rs"]
mod support;

/// All rounding modes.
pub(crate) const ROUNDINGS: [Rounding; 3] =
    [Rounding::NearestEven, Rounding::Floor, Rounding::TowardZero];

/// An op with the registry's inputs and its reference, narrowed to nearest even if the output is
/// bf16.
pub(crate) struct Case {
    pub(crate) op: Op,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) reference: Vec<f32>,
}

impl Case {
    pub(crate) fn new(op: impl Into<Op>) -> Self {
        let op = op.into();
        let inputs = draw(&op, Draw::Registry { seed: 42 });
        let reference = reference::run(&op, &inputs).unwrap();
        let output = op.operands().pop().unwrap();
        let reference = match output.dtype {
            DType::Bf16 => narrowed(&reference),
            DType::F32 => reference,
        };
        Self { op, inputs, reference }
    }

    /// The output on a core in mode `rounding`.
    pub(crate) fn run(&self, rounding: Rounding) -> Vec<f32> {
        self.run_on(rounding, &self.inputs)
    }

    /// The output of other inputs.
    pub(crate) fn run_on(&self, rounding: Rounding, inputs: &[Tensor]) -> Vec<f32> {
        launch_with(EmulatorOptions::default(), self.op, rounding, inputs).to_f32()
    }

    /// The output on another emulated NPU.
    pub(crate) fn run_with(&self, options: EmulatorOptions, rounding: Rounding) -> Vec<f32> {
        launch_with(options, self.op, rounding, &self.inputs).to_f32()
    }

    pub(crate) fn mean_rel_l1(&self, output: &[f32]) -> f64 {
        mean_rel_l1(output, &self.reference)
    }

    /// Elements outside the tolerance.
    fn outside(&self, output: &[f32]) -> usize {
        let tolerance = registry::tolerance(&self.op);
        assert_eq!(output.len(), self.reference.len());
        let pairs = output.iter().zip(&self.reference);
        pairs.filter(|(y, r)| !tolerance.accepts(**y, **r)).count()
    }

    /// Asserts that all of `output` is within the tolerance.
    #[track_caller]
    pub(crate) fn passes(&self, output: &[f32]) {
        assert_eq!(self.outside(output), 0, "{:?}: elements outside the tolerance", self.op);
    }

    /// Asserts that at least `share` of `output` is outside the tolerance.
    #[track_caller]
    pub(crate) fn fails(&self, output: &[f32], share: f64) {
        let (found, error) = (self.outside(output), self.mean_rel_l1(output));
        let figures = format!("{found} of {} outside, mean_rel_L1 {error:.3e}", output.len());
        assert!(found as f64 >= share * output.len() as f64, "{:?}: {figures}", self.op);
    }
}

/// Twice the right output has a cosine of 1 with it; at least `share` of it must be outside the
/// tolerance.
#[track_caller]
pub(crate) fn doubled_fails(op: impl Into<Op>, share: f64) {
    let case = Case::new(op);
    let doubled: Vec<f32> = case.reference.iter().map(|r| 2.0 * r).collect();
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let norms = dot(&doubled, &doubled).sqrt() * dot(&case.reference, &case.reference).sqrt();
    let cosine = dot(&doubled, &case.reference) / norms;
    assert!((cosine - 1.0).abs() < 1e-12, "{:?}: cosine {cosine}", case.op);
    case.fails(&doubled, share);
}

/// With rounding to nearest, a kernel that narrows once equals its reference bit for bit; with
/// floor it is as far away as `mean_rel_l1`, within 2 %.
#[track_caller]
pub(crate) fn floor_shows_in_the_mean_error(op: impl Into<Op>, mean_rel_l1: f64) {
    let case = Case::new(op);
    assert!(case.run(Rounding::NearestEven) == case.reference, "{:?}", case.op);
    let floor = case.mean_rel_l1(&case.run(Rounding::Floor));
    assert!((floor / mean_rel_l1 - 1.0).abs() < 0.02, "{:?}: mean_rel_L1 {floor:.3e}", case.op);
}

/// The `mean_rel_L1` that the kernel registry of Xilinx/mlir-air (commit e972f294) publishes for a
/// shape. Inputs here are of the same distribution, not the same values, so it is met within a few
/// percent.
#[derive(Clone, Copy)]
pub(crate) struct Published {
    pub(crate) mean_rel_l1: f64,
    pub(crate) within: f64,
}

impl Published {
    /// The emulated NPU is as far from the f32 reference as silicon was, and within the tolerance.
    #[track_caller]
    pub(crate) fn met_by(self, op: impl KernelSpec + Into<Op>) {
        let Self { mean_rel_l1, within } = self;
        let case = Case::new(op);
        let output = launch(Toolchain::Npu2_2026_06, case.op, &case.inputs).to_f32();
        let found = case.mean_rel_l1(&output);
        assert!(
            (found / mean_rel_l1 - 1.0).abs() <= within,
            "{:?}: mean_rel_L1 {found:.3e}, published {mean_rel_l1:.3e}",
            case.op
        );
        case.passes(&output);
    }
}

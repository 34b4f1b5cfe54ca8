//! Softmax of rows. *Derived*, not measured: the registry publishes no figure for this kernel. It
//! is FlashAttention's softmax of one row: the maximum, the difference narrowed, `exp2` of its
//! product with `bf16(log2 e)`, a sum in f32 narrowed once, the bf16 reciprocal and the product
//! narrowed.

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{
        Datapath, Operands, Output, Prepare, Scratch, Unwritten,
        exponential::{LOWEST, SoftmaxFunctions},
        lanes::{max, sum_by},
        spread, task_by_rounding,
        vector::VectorUnit,
    },
    fidelity::band::Band,
    kernel::{
        Bias, Inputs, KernelSpec, OpError, Operand, RowsShape, SMOKE_ROWS, Tolerance, legality,
    },
    registry::figures::Figure,
    rounding::{Rounding, widen},
    tiling::{
        rows::{self, NormTiling},
        rule::Broken,
    },
};

/// `y[r, c] = exp(x[r, c]) / sum_c(exp(x[r, c]))`.
///
/// The kernel registry has no row for it; mlir-air's own harness tests it, and the tolerance used
/// here is the harness's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Softmax {
    /// Rows, each a distribution of its own.
    pub rows: usize,
    /// Columns: elements of a row.
    pub cols: usize,
}

impl KernelSpec for Softmax {
    const NAME: &'static str = "softmax";

    fn shape_key(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.rows, self.cols];
        vec![Operand::read("x", shape), Operand::write("y", shape)]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::rows(self, self.rows, self.cols)
    }

    fn smoke(&self) -> Self {
        Self { rows: self.rows.min(SMOKE_ROWS), ..*self }
    }

    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [x] = inputs.all();
        let mut y = x.to_vec();
        y.par_chunks_mut(self.cols).for_each(normalise);
        y
    }

    const EXACT_INTEGERS: bool = false;

    /// Not in the kernel registry. `rtol` is that of mlir-air's softmax harness. `atol` is for
    /// elements 8 and more below their row's maximum, so outputs below 3.4e-4: there one step of
    /// bf16 in x - max, up to 6.2 % of the output under floor, and exp2's 6.1 % are more than `rtol`
    /// together.
    fn published_tolerance(&self) -> Tolerance {
        Tolerance { rtol: 1e-1, atol: 1e-5 }
    }

    /// That of FlashAttention where a query sees all keys: it has the same exp2.
    fn sqnr_floor(&self) -> f64 {
        25.0
    }

    /// The hardware's exp2 leans to one side.
    const BIAS: Bias = Bias::Declared;

    type Tiling = NormTiling;

    fn tilings(&self) -> impl Iterator<Item = NormTiling> {
        rows::tilings()
    }

    fn check_tiling(&self, tiling: &NormTiling) -> Result<(), Broken> {
        rows::check(*tiling, [self.rows, self.cols], &self.operands())
    }

    type Shape = RowsShape;

    fn shape(&self) -> RowsShape {
        RowsShape { rows: self.rows, cols: self.cols }
    }

    fn from_shape(RowsShape { rows, cols }: RowsShape) -> Self {
        Self { rows, cols }
    }

    fn band(&self, published: Figure) -> Band {
        Band::of_known_steps(published)
    }

    fn published_inputs(&self) -> Option<String> {
        None
    }

    /// No figure is published. The mode follows the other kernels: a core that runs only float code
    /// is left at floor.
    fn core_rounding(&self) -> Rounding {
        Rounding::Floor
    }

    /// The exponential is `exp2(c d)` with `c = bf16(log2 e)`.
    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        let c = bf16::from_f32(std::f32::consts::LOG2_E);
        let functions = SoftmaxFunctions::new(c, prepare);
        Box::new(Normalised { cols: self.cols, rounding: prepare.rounding, functions })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { rows: 5, cols: 48 }, Self { rows: 101, cols: 576 }]
    }
}

/// The f32 softmax of one row, in place; its sum is in f64.
pub(crate) fn normalise(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - max).exp();
        sum += f64::from(*score);
    }
    let inverse = (1.0 / sum) as f32;
    for p in scores {
        *p *= inverse;
    }
}

/// `y = softmax(x)` for each row.
struct Normalised {
    cols: usize,
    rounding: Rounding,
    functions: SoftmaxFunctions,
}

impl Datapath for Normalised {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { cols, rounding, ref functions } = self;
        let [x] = operands.bf16()?;
        spread::rows(cols, x, out.bf16(), |x, y| {
            unit.run(Rows { cols, rounding, functions, x, y });
        });
        Ok(())
    }
}

struct Rows<'a> {
    cols: usize,
    rounding: Rounding,
    functions: &'a SoftmaxFunctions,
    x: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Rows);

impl Rows<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        let SoftmaxFunctions { exp, reciprocal } = self.functions;
        for (y, x) in self.y.chunks_exact_mut(self.cols).zip(self.x.chunks_exact(self.cols)) {
            // A NaN is passed over here and comes back through its probability.
            let max = max(x).max(LOWEST);
            for (p, &x) in y.iter_mut().zip(x) {
                *p = narrow(widen(x) - max);
            }
            for p in y.iter_mut() {
                *p = exp.get(*p);
            }
            let sum = widen(narrow(sum_by(y, |p| p)));
            let inverse = widen(reciprocal.eval(sum, self.rounding));
            for p in y.iter_mut() {
                *p = narrow(widen(*p) * inverse);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tensor,
        testing::{Case, ROUNDINGS, doubled_fails},
    };

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(Softmax { rows: 64, cols: 256 }, 0.95);
    }

    #[test]
    fn a_softmax_of_columns_is_caught() {
        let cols = 64;
        let case = Case::new(Softmax { rows: cols, cols });
        let transposed = |x: &[f32]| -> Vec<f32> {
            (0..cols * cols).map(|i| x[i % cols * cols + i / cols]).collect()
        };
        let x = transposed(&case.inputs[0].to_f32());
        let x = x.into_iter().map(bf16::from_f32).collect::<Vec<_>>();
        let x = Tensor::bf16([cols, cols], x).unwrap();
        case.fails(&transposed(&case.run_on(Rounding::Floor, &[x])), 0.4);
    }

    /// The outputs of a long row are small: an atol of the other kernels' size would accept zeros.
    #[test]
    fn the_tolerance_holds_in_every_mode_and_refuses_zeros() {
        for cols in [16, 256, 4096, 32768] {
            let case = Case::new(Softmax { rows: 8, cols });
            for rounding in ROUNDINGS {
                case.passes(&case.run(rounding));
            }
            // At 32,768 columns a third is below the atol itself.
            case.fails(&vec![0.0; case.reference.len()], 0.6);
        }
    }

    #[test]
    fn a_row_that_is_not_a_whole_number_of_vectors_is_refused() {
        let checked = Softmax { rows: 4, cols: 24 }.check();
        assert!(matches!(checked, Err(OpError::NotMultiple { dimension: "cols", .. })));
    }
}

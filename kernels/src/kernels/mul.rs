//! Element-wise product, as the gate of a `GeGLU` needs it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{Datapath, Prepare, elementwise::Binary},
    fidelity::band::Band,
    kernel::{
        Bias, FlatShape, Inputs, KernelSpec, OpError, Operand, SMOKE_ROWS, SQNR_FLOOR, Tolerance,
        legality,
    },
    registry::figures::Figure,
    tiling::{
        elementwise::{self, ElementwiseTiling, TWO_INPUTS},
        rule::Broken,
    },
};

/// `out = a * b`, element-wise on `[rows, cols]`.
///
/// The kernel registry (commit e972f294) has no row of it; mlir-air's own harness does, and its
/// tolerance is the one used here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Mul {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

impl KernelSpec for Mul {
    const NAME: &'static str = "mul";

    fn shape_key(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.rows, self.cols];
        vec![Operand::read("a", shape), Operand::read("b", shape), Operand::write("out", shape)]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::non_zero(self, &[("rows", self.rows), ("cols", self.cols)])
    }

    fn smoke(&self) -> Self {
        Self { rows: self.rows.min(SMOKE_ROWS), ..*self }
    }

    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [a, b] = inputs.all();
        a.par_iter().zip(b).map(|(a, b)| a * b).collect()
    }

    /// Products are integers of magnitude at most 1.
    const EXACT_INTEGERS: bool = true;

    /// That of mlir-air's harness (commit 0b499c9a, `programming_examples/eltwise_mul`), which draws
    /// both inputs from a standard normal distribution. It is the registry's of an element-wise
    /// add, which narrows as often.
    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(5e-2)
    }

    fn sqnr_floor(&self) -> f64 {
        SQNR_FLOOR
    }

    const BIAS: Bias = Bias::None;

    type Tiling = ElementwiseTiling;

    fn tilings(&self) -> impl Iterator<Item = ElementwiseTiling> {
        elementwise::tilings(&TWO_INPUTS, self.rows * self.cols)
    }

    fn check_tiling(&self, tiling: &ElementwiseTiling) -> Result<(), Broken> {
        elementwise::check(tiling, &TWO_INPUTS, self.rows * self.cols)
    }

    type Shape = FlatShape;

    fn shape(&self) -> FlatShape {
        FlatShape { n: self.rows * self.cols }
    }

    fn from_shape(FlatShape { n }: FlatShape) -> Self {
        Self { rows: 1, cols: n }
    }

    /// No figure is published yet. Every step is known: the product of two bf16 is exact in f32.
    fn band(&self, published: Figure) -> Band {
        Band::of_known_steps(published)
    }

    fn published_inputs(&self) -> Option<String> {
        None
    }

    /// An f32 product, narrowed once.
    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        Box::new(Binary { rounding: prepare.rounding, f: |a, b| a * b })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { rows: 3, cols: 331 }, Self { rows: 101, cols: 1000 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rounding::Rounding,
        testing::{Case, doubled_fails, floor_shows_in_the_mean_error},
    };

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(Mul { rows: 64, cols: 256 }, 0.8);
    }

    #[test]
    fn a_sum_in_place_of_the_product_is_caught() {
        let case = Case::new(Mul { rows: 64, cols: 256 });
        case.passes(&case.run(Rounding::Floor));
        let sum = Case::new(crate::Add { rows: 64, cols: 256 });
        case.fails(&sum.run_on(Rounding::Floor, &case.inputs), 0.9);
    }

    #[test]
    fn an_operand_that_is_one_row_late_is_caught() {
        let case = Case::new(Mul { rows: 64, cols: 256 });
        let mut b = case.inputs[1].to_f32();
        b.rotate_right(256);
        let b: Vec<_> = b.into_iter().map(half::bf16::from_f32).collect();
        let late = [case.inputs[0].clone(), crate::Tensor::bf16([64, 256], b).unwrap()];
        case.fails(&case.run_on(Rounding::Floor, &late), 0.8);
    }

    /// 2.73e-3 is not published: it was calculated in numpy, from other draws of the same
    /// distribution.
    #[test]
    fn floor_rounding_shows_in_the_mean_error() {
        floor_shows_in_the_mean_error(Mul { rows: 1024, cols: 1024 }, 2.73e-3);
    }
}

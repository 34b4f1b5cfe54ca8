//! GELU in its tanh form: a chain of bf16 steps from one bf16, so a table of all values.

use std::sync::Arc;

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{
        Datapath, Operands, Output, Prepare, Scratch, Unwritten, functions::Tanh, spread,
        vector::VectorUnit,
    },
    fidelity::band::Band,
    kernel::{
        Bias, FlatShape, Inputs, KernelSpec, OpError, Operand, SMOKE_ROWS, SQNR_FLOOR, Tolerance,
        legality,
    },
    registry::figures::Figure,
    rounding::{Rounding, widen},
    tiling::{
        elementwise::{self, ElementwiseTiling, ONE_INPUT},
        rule::Broken,
    },
};

/// `y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, element-wise on `[rows, cols]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Gelu {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

impl KernelSpec for Gelu {
    const NAME: &'static str = "gelu";

    fn shape_key(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.rows, self.cols];
        vec![Operand::read("x", shape), Operand::write("y", shape)]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::non_zero(self, &[("rows", self.rows), ("cols", self.cols)])
    }

    fn smoke(&self) -> Self {
        Self { rows: self.rows.min(SMOKE_ROWS), ..*self }
    }

    /// The constants are those of the paper's approximation (Hendrycks and Gimpel, 2016).
    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        const INNER: f32 = 0.797_884_6; // sqrt(2 / pi)
        let gelu = |x: f32| 0.5 * x * (1.0 + (INNER * (x + 0.044_715 * x * x * x)).tanh());
        let [x] = inputs.all();
        x.par_iter().map(|&x| gelu(x)).collect()
    }

    const EXACT_INTEGERS: bool = false;

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(5e-2)
    }

    fn sqnr_floor(&self) -> f64 {
        SQNR_FLOOR
    }

    /// The hardware's tanh leans to one side.
    const BIAS: Bias = Bias::Declared;

    type Tiling = ElementwiseTiling;

    fn tilings(&self) -> impl Iterator<Item = ElementwiseTiling> {
        elementwise::tilings(&ONE_INPUT, self.rows * self.cols)
    }

    fn check_tiling(&self, tiling: &ElementwiseTiling) -> Result<(), Broken> {
        elementwise::check(tiling, &ONE_INPUT, self.rows * self.cols)
    }

    type Shape = FlatShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/gelu.json"));

    fn shape(&self) -> FlatShape {
        FlatShape { n: self.rows * self.cols }
    }

    fn from_shape(FlatShape { n }: FlatShape) -> Self {
        Self { rows: 1, cols: n }
    }

    fn band(&self, published: Figure) -> Band {
        Band::of_fitted_tanh(published)
    }

    fn published_inputs(&self) -> Option<String> {
        Some(self.shape().to_string())
    }

    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        let (rounding, tanh) = (prepare.rounding, &prepare.functions.tanh);
        Box::new(Lookup { gelu: prepare.table("gelu", |x| gelu(x, tanh, rounding)) })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { rows: 3, cols: 331 }, Self { rows: 101, cols: 1000 }]
    }
}

/// `bf16(0.044715)`, the cubic term's factor.
const BETA: f32 = 0.044_677_734;
/// `bf16(sqrt(2 / pi))`.
const ALPHA: f32 = 0.796_875;

/// `gelu` as the kernel computes it: `x^2` and `x^3` narrowed, `x + beta x^3` narrowed once, the
/// argument of tanh, `1 + t` and the product narrowed. (Halving is exact.)
fn gelu(x: bf16, tanh: &Tanh, rounding: Rounding) -> bf16 {
    let round = |x| widen(rounding.narrow(x));
    let x = widen(x);
    let cube = round(x * round(x * x));
    let inner = round(x + BETA * cube);
    let t = widen(tanh.eval(round(ALPHA * inner)));
    rounding.narrow(0.5 * x * round(1.0 + t))
}

/// `y = gelu(x)`, with a table of [`gelu()`].
struct Lookup {
    gelu: Arc<[bf16]>,
}

impl Datapath for Lookup {
    fn run(
        &self,
        _: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let gelu = self.gelu.as_ref();
        let [x] = operands.bf16()?;
        spread::rows(1, x, out.bf16(), |x, y| {
            for (y, x) in y.iter_mut().zip(x) {
                *y = gelu[usize::from(x.to_bits())];
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, Published, doubled_fails};

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(Gelu { rows: 64, cols: 256 }, 0.85);
    }

    /// `x sigmoid(x)` in place of GELU: alike in shape, 0.13 apart at most.
    #[test]
    fn a_silu_in_its_place_is_caught() {
        let case = Case::new(Gelu { rows: 64, cols: 256 });
        case.passes(&case.run(Rounding::Floor));
        let silu =
            case.inputs[0].to_f32().iter().map(|x| x / (1.0 + (-x).exp())).collect::<Vec<_>>();
        case.fails(&silu, 0.4);
    }

    #[test]
    fn it_has_the_error_that_its_tanh_was_fitted_to() {
        Published { mean_rel_l1: 8.4e-3, within: 0.02 }.met_by(Gelu { rows: 1024, cols: 1024 });
    }

    #[test]
    fn a_dimension_of_zero_is_refused() {
        let checked = Gelu { rows: 0, cols: 4 }.check();
        assert!(matches!(checked, Err(OpError::Zero { dimension: "rows", .. })), "{checked:?}");
    }
}

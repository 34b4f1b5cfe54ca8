//! Element-wise sum.

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
        require::not_corrupt,
        rule::Broken,
    },
};

/// `out = a + b`, element-wise on `[rows, cols]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Add {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// The elements and the tile of an add that yields zeros beyond the first tiles, and the
/// `mean_rel_l1` that results: from the SmolVLA sweeps of mlir-air's kernel registry.
const CORRUPT: (usize, usize, &str) = (245_760, 2048, "0.46");

impl KernelSpec for Add {
    const NAME: &'static str = "add";

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
        a.par_iter().zip(b).map(|(a, b)| a + b).collect()
    }

    /// Sums are integers of magnitude at most 2.
    const EXACT_INTEGERS: bool = true;

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
        let n = self.rows * self.cols;
        elementwise::check(tiling, &TWO_INPUTS, n)?;
        let (corrupt_n, corrupt_tile, figure) = CORRUPT;
        not_corrupt((n == corrupt_n && tiling.tile_n == corrupt_tile).then_some(figure))
    }

    type Shape = FlatShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/add.json"));

    fn shape(&self) -> FlatShape {
        FlatShape { n: self.rows * self.cols }
    }

    fn from_shape(FlatShape { n }: FlatShape) -> Self {
        Self { rows: 1, cols: n }
    }

    fn band(&self, published: Figure) -> Band {
        Band::of_known_steps(published)
    }

    fn published_inputs(&self) -> Option<String> {
        Some(self.shape().to_string())
    }

    /// An f32 sum, narrowed once.
    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        Box::new(Binary { rounding: prepare.rounding, f: |a, b| a + b })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { rows: 3, cols: 331 }, Self { rows: 101, cols: 1000 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Published, doubled_fails, floor_shows_in_the_mean_error};

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(Add { rows: 64, cols: 256 }, 0.9);
    }

    #[test]
    fn a_dimension_of_zero_is_refused() {
        let checked = Add { rows: 4, cols: 0 }.check();
        assert!(matches!(checked, Err(OpError::Zero { dimension: "cols", .. })), "{checked:?}");
    }

    /// With rounding to nearest an add equals its reference bit for bit; with floor it is as far
    /// away as silicon was. Both pass the tolerance: only the mean error tells them apart.
    #[test]
    fn floor_rounding_shows_in_the_mean_error() {
        floor_shows_in_the_mean_error(Add { rows: 1024, cols: 1024 }, 1.9e-3);
    }

    #[test]
    fn it_is_one_floor_away_from_its_reference() {
        Published { mean_rel_l1: 1.9e-3, within: 0.02 }.met_by(Add { rows: 1024, cols: 1024 });
    }
}

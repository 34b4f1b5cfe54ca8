//! `RMSNorm`: f32 squares in 16 lanes, the reciprocal root narrowed, then two narrowed products.

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{
        Datapath, Operands, Output, Prepare, Scratch, Unwritten, functions::Rsqrt, lanes::sum_by,
        spread, task_by_rounding, vector::VectorUnit,
    },
    fidelity::band::Band,
    kernel::{
        Bias, Inputs, KernelSpec, OpError, Operand, RowsShape, SMOKE_ROWS, SQNR_FLOOR, Tolerance,
        legality,
    },
    registry::figures::Figure,
    rounding::{Rounding, widen},
    tiling::{
        rows::{self, NormTiling},
        rule::Broken,
    },
};

/// `y[r, c] = x[r, c] / sqrt(mean_c(x[r, c]^2) + eps) * w[c]`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RmsNorm {
    /// Rows, each normalised by itself.
    pub rows: usize,
    /// Columns: elements of a row and of the weight.
    pub cols: usize,
    /// Added to the mean of squares.
    pub eps: f32,
}

/// Added to the mean of squares in every published row.
const EPS: f32 = 1e-5;

impl KernelSpec for RmsNorm {
    const NAME: &'static str = "rms_norm";

    fn shape_key(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.rows, self.cols];
        vec![Operand::read("x", shape), Operand::read("w", [self.cols]), Operand::write("y", shape)]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::rows(self, self.rows, self.cols)
    }

    fn smoke(&self) -> Self {
        Self { rows: self.rows.min(SMOKE_ROWS), ..*self }
    }

    /// Sums are in f64.
    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [x, w] = inputs.all();
        let cols = self.cols;
        let mut y = vec![0.0; x.len()];
        y.par_chunks_mut(cols).zip(x.par_chunks(cols)).for_each(|(y, x)| {
            let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            let scale = 1.0 / (squares / cols as f64 + f64::from(self.eps)).sqrt();
            for ((y, &x), &w) in y.iter_mut().zip(x).zip(w) {
                *y = (f64::from(x) * scale * f64::from(w)) as f32;
            }
        });
        y
    }

    const EXACT_INTEGERS: bool = false;

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(5e-2)
    }

    fn sqnr_floor(&self) -> f64 {
        SQNR_FLOOR
    }

    const BIAS: Bias = Bias::None;

    type Tiling = NormTiling;

    fn tilings(&self) -> impl Iterator<Item = NormTiling> {
        rows::tilings()
    }

    fn check_tiling(&self, tiling: &NormTiling) -> Result<(), Broken> {
        rows::check(*tiling, [self.rows, self.cols], &self.operands())
    }

    type Shape = RowsShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/rms_norm.json"));

    fn shape(&self) -> RowsShape {
        RowsShape { rows: self.rows, cols: self.cols }
    }

    fn from_shape(RowsShape { rows, cols }: RowsShape) -> Self {
        Self { rows, cols, eps: EPS }
    }

    fn band(&self, published: Figure) -> Band {
        Band::of_known_steps(published)
    }

    fn published_inputs(&self) -> Option<String> {
        Some(self.shape().to_string())
    }

    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        let rsqrt = prepare.functions.rsqrt.clone();
        Box::new(Normed { norm: *self, rounding: prepare.rounding, rsqrt })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { rows: 5, cols: 48, eps: EPS }, Self { rows: 101, cols: 576, eps: EPS }]
    }
}

/// `y = x / rms(x) * w` for each row.
struct Normed {
    norm: RmsNorm,
    rounding: Rounding,
    rsqrt: Rsqrt,
}

impl Datapath for Normed {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { norm, rounding, ref rsqrt } = self;
        let [x, w] = operands.bf16()?;
        spread::rows(norm.cols, x, out.bf16(), |x, y| {
            unit.run(Rows { norm, rounding, rsqrt, x, w, y });
        });
        Ok(())
    }
}

struct Rows<'a> {
    norm: RmsNorm,
    rounding: Rounding,
    rsqrt: &'a Rsqrt,
    x: &'a [bf16],
    w: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Rows);

impl Rows<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        let RmsNorm { cols, eps, .. } = self.norm;
        for (y, x) in self.y.chunks_exact_mut(cols).zip(self.x.chunks_exact(cols)) {
            let mean = sum_by(x, |x| x * x) / cols as f32;
            let scale = widen(narrow(self.rsqrt.eval(mean + eps)));
            for ((y, &x), &w) in y.iter_mut().zip(x).zip(self.w) {
                *y = narrow(widen(narrow(widen(x) * scale)) * widen(w));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Published, doubled_fails};

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(RmsNorm { rows: 64, cols: 256, eps: EPS }, 0.8);
    }

    #[test]
    fn it_is_three_floors_away_from_its_reference() {
        for (rows, cols, mean_rel_l1, within) in
            [(2048, 1024, 4.3e-3, 0.03), (2048, 128, 4.6e-3, 0.03), (256, 960, 4.2e-3, 0.04)]
        {
            Published { mean_rel_l1, within }.met_by(RmsNorm { rows, cols, eps: EPS });
        }
    }
}

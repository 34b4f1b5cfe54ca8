//! `LayerNorm`: mean, difference, reciprocal root and their product each narrowed, sums in f32, the
//! weight's product and the bias in one f32 accumulator.

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

/// `y[r, c] = (x[r, c] - mean_c(x[r, c])) / sqrt(var_c(x[r, c]) + eps) * w[c] + b[c]`, weight and
/// bias in one operand `wb[2 * cols]`, one after the other: a tile has three streams to memory at
/// most.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LayerNorm {
    /// Rows, each normalised by itself.
    pub rows: usize,
    /// Columns: elements of a row, of the weight and of the bias.
    pub cols: usize,
    /// Added to the variance.
    pub eps: f32,
}

/// Added to the variance in every published row.
const EPS: f32 = 1e-5;

impl KernelSpec for LayerNorm {
    const NAME: &'static str = "layer_norm";

    fn shape_key(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.rows, self.cols];
        vec![
            Operand::read("x", shape),
            Operand::read("wb", [2 * self.cols]),
            Operand::write("y", shape),
        ]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::rows(self, self.rows, self.cols)
    }

    fn smoke(&self) -> Self {
        Self { rows: self.rows.min(SMOKE_ROWS), ..*self }
    }

    /// Sums are in f64.
    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [x, wb] = inputs.all();
        let cols = self.cols;
        let (w, b) = wb.split_at(cols);
        let mut y = vec![0.0; x.len()];
        y.par_chunks_mut(cols).zip(x.par_chunks(cols)).for_each(|(y, x)| {
            let mean = x.iter().copied().map(f64::from).sum::<f64>() / cols as f64;
            let squares = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>();
            let scale = 1.0 / (squares / cols as f64 + f64::from(self.eps)).sqrt();
            for ((y, &x), (&w, &b)) in y.iter_mut().zip(x).zip(w.iter().zip(b)) {
                *y = ((f64::from(x) - mean) * scale * f64::from(w) + f64::from(b)) as f32;
            }
        });
        y
    }

    const EXACT_INTEGERS: bool = false;

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(6e-2)
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

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/layer_norm.json"));

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

/// `y = (x - mean) / deviation * w + b` for each row, `wb` being the weight and then the bias.
struct Normed {
    norm: LayerNorm,
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
        let [x, wb] = operands.bf16()?;
        spread::rows(norm.cols, x, out.bf16(), |x, y| {
            unit.run(Rows { norm, rounding, rsqrt, x, wb, y });
        });
        Ok(())
    }
}

struct Rows<'a> {
    norm: LayerNorm,
    rounding: Rounding,
    rsqrt: &'a Rsqrt,
    x: &'a [bf16],
    wb: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Rows);

impl Rows<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        let LayerNorm { cols, eps, .. } = self.norm;
        let (w, b) = self.wb.split_at(cols);
        for (y, x) in self.y.chunks_exact_mut(cols).zip(self.x.chunks_exact(cols)) {
            let mean = widen(narrow(sum_by(x, |x| x) / cols as f32));
            // The output holds the differences until they are multiplied.
            for (d, &x) in y.iter_mut().zip(x) {
                *d = narrow(widen(x) - mean);
            }
            let variance = sum_by(y, |d| d * d) / cols as f32;
            let scale = widen(narrow(self.rsqrt.eval(variance + eps)));
            for (y, (&w, &b)) in y.iter_mut().zip(w.iter().zip(b)) {
                let normed = widen(narrow(widen(*y) * scale));
                *y = narrow(normed * widen(w) + widen(b));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tensor,
        testing::{Case, Published, doubled_fails},
    };

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(LayerNorm { rows: 64, cols: 256, eps: EPS }, 0.9);
    }

    #[test]
    fn weight_and_bias_exchanged_are_caught() {
        let case = Case::new(LayerNorm { rows: 64, cols: 256, eps: EPS });
        case.passes(&case.run(Rounding::Floor));
        let mut wb = case.inputs[1].to_f32();
        wb.rotate_left(256);
        let wb: Vec<bf16> = wb.into_iter().map(bf16::from_f32).collect();
        let exchanged = [case.inputs[0].clone(), Tensor::bf16([512], wb).unwrap()];
        case.fails(&case.run_on(Rounding::Floor, &exchanged), 0.8);
    }

    #[test]
    fn it_is_five_floors_away_from_its_reference() {
        let norm = LayerNorm { rows: 1024, cols: 768, eps: EPS };
        Published { mean_rel_l1: 4.4e-3, within: 0.03 }.met_by(norm);
    }

    #[test]
    fn a_row_that_is_not_a_whole_number_of_vectors_is_refused() {
        let checked = LayerNorm { rows: 4, cols: 24, eps: EPS }.check();
        assert!(matches!(checked, Err(OpError::NotMultiple { dimension: "cols", .. })));
    }
}

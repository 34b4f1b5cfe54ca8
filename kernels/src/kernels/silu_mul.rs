//! SiLU-and-Mul: `silu(g) = g (1 + tanh(g / 2)) / 2` in bf16 steps, times up.

use std::sync::Arc;

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{
        Datapath, Operands, Output, Prepare, Scratch, Unwritten, functions::Tanh, spread,
        task_by_rounding, vector::VectorUnit,
    },
    fidelity::band::Band,
    kernel::{
        Bias, FlatShape, Inputs, KernelSpec, OpError, Operand, SMOKE_ROWS, SQNR_FLOOR, Tolerance,
        legality,
    },
    registry::figures::Figure,
    rounding::{Rounding, widen},
    tiling::{
        elementwise::{self, ElementwiseTiling, TWO_INPUTS},
        require::require,
        rule::{Broken, Rule},
    },
};

/// `out = silu(gate) * up`, element-wise on `[rows, cols]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct SiluMul {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// Elements of the one shape whose possible placements are known, and those placements.
const PLACED: usize = 16_777_216;
const PLACED_TILES: [usize; 3] = [256, 512, 4096];
const PLACED_COLUMNS: [usize; 2] = [1, 8];

impl KernelSpec for SiluMul {
    const NAME: &'static str = "silu_mul";

    fn shape_key(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.rows, self.cols];
        vec![Operand::read("gate", shape), Operand::read("up", shape), Operand::write("out", shape)]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::non_zero(self, &[("rows", self.rows), ("cols", self.cols)])
    }

    fn smoke(&self) -> Self {
        Self { rows: self.rows.min(SMOKE_ROWS), ..*self }
    }

    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let silu = |x: f32| x / (1.0 + (-x).exp());
        let [gate, up] = inputs.all();
        gate.par_iter().zip(up).map(|(&g, &u)| silu(g) * u).collect()
    }

    const EXACT_INTEGERS: bool = false;

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(8e-2)
    }

    fn sqnr_floor(&self) -> f64 {
        SQNR_FLOOR
    }

    /// The hardware's tanh leans to one side.
    const BIAS: Bias = Bias::Declared;

    type Tiling = ElementwiseTiling;

    fn tilings(&self) -> impl Iterator<Item = ElementwiseTiling> {
        elementwise::tilings(&TWO_INPUTS, self.rows * self.cols)
    }

    fn check_tiling(&self, tiling: &ElementwiseTiling) -> Result<(), Broken> {
        let n = self.rows * self.cols;
        elementwise::check(tiling, &TWO_INPUTS, n)?;
        let &ElementwiseTiling { tile_n, herd: [x, _] } = tiling;
        let placed = PLACED_TILES.contains(&tile_n) && PLACED_COLUMNS.contains(&x);
        require(Rule::Placement, n != PLACED || placed, || {
            format!("tile_n = {tile_n} with herd_x = {x}")
        })
    }

    type Shape = FlatShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/silu_mul.json"));

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
        let silu = prepare.table("silu", |gate| silu(gate, tanh, rounding));
        Box::new(Gated { rounding, silu })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { rows: 3, cols: 331 }, Self { rows: 101, cols: 1000 }]
    }
}

/// `silu` as the kernel computes it: `tanh` of the exact half, then `1 + t` and the product with
/// the gate each narrowed. (Halving is exact.)
fn silu(gate: bf16, tanh: &Tanh, rounding: Rounding) -> bf16 {
    let gate = widen(gate);
    let t = widen(tanh.eval(gate * 0.5));
    let sigmoid = 0.5 * widen(rounding.narrow(1.0 + t));
    rounding.narrow(gate * sigmoid)
}

/// `out = silu(gate) * up`, with a table of [`silu()`].
struct Gated {
    rounding: Rounding,
    silu: Arc<[bf16]>,
}

impl Datapath for Gated {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let (rounding, silu) = (self.rounding, self.silu.as_ref());
        spread::pairs(operands.bf16()?, out.bf16(), |gate, up, out| {
            unit.run(Piece { rounding, silu, gate, up, out });
        });
        Ok(())
    }
}

/// Elements that are looked up at once.
const LOOKUPS: usize = 256;

struct Piece<'a> {
    rounding: Rounding,
    silu: &'a [bf16],
    gate: &'a [bf16],
    up: &'a [bf16],
    out: &'a mut [bf16],
}

task_by_rounding!(Piece);

impl Piece<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16) {
        // First the lookups, then the products: the compiler vectorises only the second loop.
        let mut silus = [bf16::ZERO; LOOKUPS];
        let pieces = self.out.chunks_mut(LOOKUPS);
        let pieces = pieces.zip(self.gate.chunks(LOOKUPS).zip(self.up.chunks(LOOKUPS)));
        for (out, (gate, up)) in pieces {
            for (silu, gate) in silus.iter_mut().zip(gate) {
                *silu = self.silu[usize::from(gate.to_bits())];
            }
            for ((out, &silu), &up) in out.iter_mut().zip(&silus).zip(up) {
                *out = narrow(widen(silu) * widen(up));
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
        doubled_fails(SiluMul { rows: 64, cols: 256 }, 0.6);
    }

    #[test]
    fn it_has_the_error_that_its_tanh_was_fitted_to() {
        Published { mean_rel_l1: 1.0e-2, within: 0.04 }.met_by(SiluMul { rows: 256, cols: 2560 });
    }
}

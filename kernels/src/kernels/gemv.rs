//! Matrix-vector product: 64 f32 lanes along K, narrowed once. No BFP16.

mod datapath;
pub(crate) mod tiling;

use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{Datapath, Prepare, vector::LANES},
    fidelity::band::Band,
    kernel::{
        Bias, EXACT_K, Inputs, KernelSpec, OpError, Operand, ShapeType, Tolerance, legality, number,
    },
    registry::figures::Figure,
    rounding::Rounding,
    tiling::rule::Broken,
};
use tiling::GemvTiling;

/// `y[m] = A[m, k] x[k]`, bf16 in and out, 64 f32 lanes over K, one narrowing; no BFP16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Gemv {
    /// Rows of A, elements of y.
    pub m: usize,
    /// Columns of A, elements of x.
    pub k: usize,
}

/// `y[m] = A[m, k] x[k]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemvShape {
    /// Rows of A.
    pub m: usize,
    /// Columns of A.
    pub k: usize,
}

impl fmt::Display for GemvShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.m, self.k)
    }
}

impl ShapeType for GemvShape {
    fn parse(key: &str) -> Option<Self> {
        let (m, k) = key.split_once('x')?;
        Some(Self { m: number(m, "")?, k: number(k, "")? })
    }

    fn dimensions(&self) -> Vec<usize> {
        vec![self.m, self.k]
    }
}

/// Rows in a smoke test: eight tiles of 16, four times.
const SMOKE_M: usize = 512;

/// Expected flips of an output at K = 2048.
///
/// Each of the 64 f32 lanes adds K / 64 terms, and each addition is off by up to `2^-24` of the sum
/// so far: together by some `2^-23` of a typical output. The result flips if the boundary between
/// two bf16 values, `2^-8` of the output apart, lies in between. That is once in `2^15` outputs of
/// typical size; small outputs flip in proportion to `1 / |y|`, whose mean over a normal
/// distribution, cut off where the error is as large as the step, adds a factor of about 4.
const FLIPS_PER_OUTPUT: f64 = 1.0 / 8192.0;
/// The error of a lane grows with the root of its terms.
const FLIPS_K: f64 = 2048.0;

impl KernelSpec for Gemv {
    const NAME: &'static str = "gemv";

    /// `16384x576`: M, K.
    fn shape_key(&self) -> String {
        self.shape().to_string()
    }

    fn operands(&self) -> Vec<Operand> {
        let Self { m, k } = *self;
        vec![Operand::read("a", [m, k]), Operand::read("x", [k]), Operand::write("y", [m])]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::non_zero(self, &[("m", self.m), ("k", self.k)])?;
        legality::multiple(self, ("k", self.k), LANES, "64 accumulator lanes along K")
    }

    fn smoke(&self) -> Self {
        Self { m: self.m.min(SMOKE_M), ..*self }
    }

    /// Sums are in f64.
    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [a, x] = inputs.all();
        let dot = |row: &[f32]| -> f64 {
            row.iter().zip(x).map(|(&a, &x)| f64::from(a) * f64::from(x)).sum()
        };
        a.par_chunks(self.k).map(|row| dot(row) as f32).collect()
    }

    fn scale(&self) -> f32 {
        4.0
    }

    /// Products and partial sums are integers of magnitude at most 256.
    const EXACT_INTEGERS: bool = true;

    /// One factor of each product beyond the first 256 along K is zero.
    fn nonzero_integers(&self, operand: &str) -> usize {
        if operand == "x" { EXACT_K } else { usize::MAX }
    }

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(1e-3)
    }

    /// One rounding to nearest even leaves 55.5 dB, truncation 49.7.
    fn sqnr_floor(&self) -> f64 {
        52.0
    }

    const BIAS: Bias = Bias::None;

    type Tiling = GemvTiling;

    fn tilings(&self) -> impl Iterator<Item = GemvTiling> {
        tiling::tilings(self)
    }

    fn check_tiling(&self, tiling: &GemvTiling) -> Result<(), Broken> {
        tiling::check(tiling, self)
    }

    /// The kernel sets the mode.
    fn core_rounding(&self) -> Rounding {
        Rounding::NearestEven
    }

    type Shape = GemvShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/gemv.json"));

    fn shape(&self) -> GemvShape {
        GemvShape { m: self.m, k: self.k }
    }

    fn from_shape(GemvShape { m, k }: GemvShape) -> Self {
        Self { m, k }
    }

    /// The figure is nothing but the few outputs whose last bit flips with the order of summation,
    /// and the registry's reference was a host's BLAS: which outputs flip is chance, so their
    /// number is bounded instead, by what chance allows.
    fn band(&self, _: Figure) -> Band {
        Band::flips(self.m as f64 * FLIPS_PER_OUTPUT * (self.k as f64 / FLIPS_K).sqrt())
    }

    fn published_inputs(&self) -> Option<String> {
        Some(self.shape().to_string())
    }

    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        Box::new(datapath::Dots { k: self.k, rounding: prepare.rounding })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { m: 37, k: 320 }, Self { m: 1000, k: 576 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fidelity::Found,
        inputs::{Draw, draw},
        op::Op,
        testing::doubled_fails,
    };

    #[test]
    fn a_doubled_output_fails_although_its_cosine_is_one() {
        doubled_fails(Gemv { m: 256, k: 1024 }, 0.95);
    }

    #[test]
    fn inputs_are_of_the_registrys_scale() {
        for values in draw(&Op::Gemv(Gemv { m: 64, k: 1024 }), Draw::Registry { seed: 3 }) {
            let values = values.to_f32();
            let square = values.iter().map(|x| x * x).sum::<f32>() / values.len() as f32;
            assert!((square.sqrt() / 4.0 - 1.0).abs() < 0.1, "{square}");
        }
    }

    #[test]
    fn a_few_outputs_may_flip_by_one_unit_each() {
        let band = |m, k| Gemv { m, k }.band(Figure(0.0));
        // Two expected of 16,384 outputs at K = 2048: 2 + 2 + 3 * sqrt(2) = 8.2.
        assert_eq!(band(16_384, 2048), Band::Flips { limit: 8 });
        assert_eq!(band(128, 896), Band::Flips { limit: 2 });
        let flips = |differing, worst_ulps| Found {
            mean_rel_l1: 1e-8,
            max_rel: 0.0,
            max_abs: 0.0,
            correlation: 1.0,
            differing,
            worst_ulps,
            outputs: 1,
        };
        assert!(band(16_384, 2048).holds(&flips(8, 1.0)));
        assert!(!band(16_384, 2048).holds(&flips(9, 1.0)));
        assert!(!band(16_384, 2048).holds(&flips(1, 2.0)));
        assert!(!band(16_384, 2048).holds(&flips(1, f64::INFINITY)), "NaN");
    }
}

//! GEMV: 64 f32 lanes along K, folded by halves, narrowed once. No BFP16.

use std::fmt;

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{
        Datapath, Operands, Output, Prepare, Scratch, Unwritten,
        vector::{LANES, Simd, Task, VectorUnit},
    },
    fidelity::band::Band,
    kernel::{
        Bias, EXACT_K, Inputs, KernelSpec, OpError, Operand, ShapeType, Tolerance, legality, number,
    },
    registry::figures::Figure,
    rounding::{Rounding, widen},
    tiling::{
        kind::TilingType,
        require::{COLUMNS, at_most, fits_l1, multiple, require},
        rule::{Broken, Rule},
    },
};

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

/// How a GEMV is cut: a one-dimensional herd over the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemvTiling {
    /// Compute tiles along M.
    pub herd_m: usize,
    /// Rows on a compute tile in each iteration of the launch.
    pub tile_m: usize,
    /// Rows that one call of the kernel takes.
    pub m_input: usize,
}

impl fmt::Display for GemvTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.herd_m, self.tile_m, self.m_input)
    }
}

impl TilingType for GemvTiling {
    const PARTS: &'static str = "herd_m/tile_m/m_input";

    fn extents(&self) -> Vec<usize> {
        vec![self.herd_m, self.tile_m, self.m_input]
    }
}

/// Bytes of a memory tile.
const L2_BYTES: usize = 524_288;

/// Repeats of one buffer descriptor.
const REPEATS: usize = 256;

/// Most iterations that were measured.
const MOST_ITERATIONS: usize = 3 * REPEATS;

/// Proposals of `tile_m` are tried in this order.
const TILE_M: [usize; 4] = [16, 8, 4, 2];

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

    /// The most compute tiles first, then the largest `tile_m` and `m_input`.
    fn tilings(&self) -> impl Iterator<Item = GemvTiling> {
        let m = self.m;
        (1..=COLUMNS).rev().flat_map(move |herd_m| {
            TILE_M.into_iter().filter(move |tile| m.is_multiple_of(tile * herd_m)).flat_map(
                move |tile_m| {
                    (1..=tile_m)
                        .rev()
                        .filter(move |&m_input| tile_m.is_multiple_of(m_input))
                        .map(move |m_input| GemvTiling { herd_m, tile_m, m_input })
                },
            )
        })
    }

    fn check_tiling(&self, tiling: &GemvTiling) -> Result<(), Broken> {
        let &GemvTiling { herd_m, tile_m, m_input } = tiling;
        let Self { m, k } = *self;
        at_most(Rule::HerdFitsFabric, ("herd_m", herd_m), COLUMNS)?;
        multiple(Rule::GemvRowsDivisible, ("m", m), ("tile_m * herd_m", tile_m * herd_m))?;
        multiple(Rule::GemvInputDivisible, ("tile_m", tile_m), ("m_input", m_input))?;
        multiple(Rule::GemvKLanes, ("k", k), ("the lanes", LANES))?;
        multiple(Rule::GemvTileEven, ("tile_m", tile_m), ("a word", 2))?;
        let panels = 2 * herd_m * tile_m * (k + 1);
        at_most(Rule::L2Capacity, ("bytes of panels in L2", panels), L2_BYTES)?;
        fits_l1(2 * (m_input + 1) * k)?;
        let iterations = m / (tile_m * herd_m);
        let descriptors = iterations <= MOST_ITERATIONS && iterations.is_multiple_of(REPEATS);
        require(Rule::GemvRepeatLimit, iterations <= REPEATS || descriptors, || {
            format!("m / (tile_m * herd_m) = {iterations}; partition m")
        })
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
        Box::new(Dots { k: self.k, rounding: prepare.rounding })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![Self { m: 37, k: 320 }, Self { m: 1000, k: 576 }]
    }
}

/// `y[m] = a[m, k] x[k]`.
struct Dots {
    k: usize,
    rounding: Rounding,
}

/// Weights below which one thread is as fast as several.
const SERIAL: usize = 1 << 17;
/// Weights of a piece: large enough to be worth scheduling, small enough to balance.
const PIECE: usize = 1 << 16;

impl Datapath for Dots {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        scratch: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { k, rounding } = self;
        let [a, x] = operands.bf16()?;
        let y = out.bf16();
        let wide: &mut Vec<f32> = scratch.of();
        wide.clear();
        wide.extend(x.iter().map(|&x| widen(x)));
        let x = wide.as_slice();
        if a.len() <= SERIAL {
            unit.run(Rows { rounding, a, x, y });
            return Ok(());
        }
        let rows = (PIECE / k).max(1);
        let pieces = y.par_chunks_mut(rows).zip(a.par_chunks(rows * k));
        pieces.for_each(|(y, a)| unit.run(Rows { rounding, a, x, y }));
        Ok(())
    }
}

struct Rows<'a> {
    rounding: Rounding,
    a: &'a [bf16],
    x: &'a [f32],
    y: &'a mut [bf16],
}

impl Task for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (y, a) in self.y.iter_mut().zip(self.a.chunks_exact(self.x.len())) {
            *y = self.rounding.narrow(dot(simd, a, self.x));
        }
    }
}

/// Lane `i` sums the products `i + 64 j`; then lanes `i` and `i + 32` are added, `i` and `i + 16`,
/// and so on. The order is fixed and the products are exact in f32: the same bits everywhere.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[bf16], x: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    simd.accumulate(a.as_chunks().0, x.as_chunks().0, &mut lanes);
    let halves = fold::<64, 32>(&lanes);
    let halves = fold::<32, 16>(&halves);
    let halves = fold::<16, 8>(&halves);
    let halves = fold::<8, 4>(&halves);
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}

/// Adds the upper half to the lower.
#[inline(always)]
fn fold<const N: usize, const HALF: usize>(lanes: &[f32; N]) -> [f32; HALF] {
    let (lower, upper) = lanes.split_at(HALF);
    let mut sums = [0.0; HALF];
    for ((sum, &lower), &upper) in sums.iter_mut().zip(lower).zip(upper) {
        *sum = lower + upper;
    }
    sums
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

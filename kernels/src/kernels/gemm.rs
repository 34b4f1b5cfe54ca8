//! Matrix product: BFP16 operands, f32 accumulation, narrowed as the output method says.

mod datapath;
pub(crate) mod output;
pub(crate) mod tier;
pub(crate) mod tiling;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    datapath::{Datapath, Prepare},
    fidelity::band::Band,
    kernel::{
        Bias, EXACT_K, Inputs, KernelSpec, OpError, Operand, ShapeType, Tolerance, legality,
        number, product::product,
    },
    registry::figures::Figure,
    rounding::Rounding,
    tiling::rule::Broken,
};
use output::GemmOutput;
use tiling::GemmTiling;

/// `C[m, n] = A[m, k] B[k, n]`, bf16 in, BFP16-emulated products, f32 accumulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Gemm {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B: the reduced dimension.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Type of C and where the accumulator is narrowed to it.
    pub output: GemmOutput,
}

/// `C[m, n] = A[m, k] B[k, n]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GemmShape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
}

impl fmt::Display for GemmShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.k, self.n)
    }
}

impl ShapeType for GemmShape {
    fn parse(key: &str) -> Option<Self> {
        let (m, rest) = key.split_once('x')?;
        let (k, n) = rest.split_once('x')?;
        Some(Self { m: number(m, "")?, k: number(k, "")?, n: number(n, "")? })
    }

    fn dimensions(&self) -> Vec<usize> {
        vec![self.m, self.k, self.n]
    }
}

/// Rows in a smoke test: a row of eight tiles of 16, the fewest that fill the fabric's columns.
const SMOKE_M: usize = 128;

/// K from which on the published tolerance is used as it is.
const FULL_K: usize = 1024;

impl Gemm {
    /// K extent of an L1 tile: [`GemmOutput::Direct`] rounds C to bf16 after each.
    pub const TILE_K_L1: usize = 32;
}

impl KernelSpec for Gemm {
    const NAME: &'static str = "gemm";

    /// `256x576x1536`: M, K, N.
    fn shape_key(&self) -> String {
        self.shape().to_string()
    }

    fn tier(&self) -> Option<&'static str> {
        Some(self.output.tier().name())
    }

    fn operands(&self) -> Vec<Operand> {
        let Self { m, k, n, output } = *self;
        let c = Operand { dtype: output.dtype(), ..Operand::write("c", [m, n]) };
        vec![Operand::read("a", [m, k]), Operand::read("b", [k, n]), c]
    }

    fn check(&self) -> Result<(), OpError> {
        legality::non_zero(self, &[("m", self.m), ("k", self.k), ("n", self.n)])?;
        legality::multiple(self, ("k", self.k), 8, "BFP16 blocks hold 8 values along K")
    }

    fn smoke(&self) -> Self {
        Self { m: self.m.min(SMOKE_M), ..*self }
    }

    /// Sums are in f32, as in a CPU's BLAS.
    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [a, b] = inputs.all();
        let &Self { m, k, n, .. } = self;
        let mut c = vec![0.0; m * n];
        product(m, k, n, (a, k as isize, 1), (b, n as isize, 1), &mut c);
        c
    }

    fn scale(&self) -> f32 {
        1.0 / (self.k as f32).sqrt()
    }

    /// Products and partial sums are integers of magnitude at most 256.
    const EXACT_INTEGERS: bool = true;

    /// One factor of each product beyond the first 256 along K is zero.
    fn nonzero_integers(&self, operand: &str) -> usize {
        if operand == "b" { EXACT_K * self.n } else { usize::MAX }
    }

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(match self.output {
            GemmOutput::F32External
            | GemmOutput::F32Direct
            | GemmOutput::Drain
            | GemmOutput::FusedCast => 1.5e-3,
            GemmOutput::Direct => 4e-3,
        })
    }

    /// The published one, except for K < 1024.
    ///
    /// Inputs are drawn from `randn / sqrt(K)`, so outputs have a root mean square of `1 /
    /// sqrt(K)`. The published `atol` is absolute and was met at K >= 1024; at K = 512 the very
    /// same arithmetic leaves 14 of 262,144 elements outside, at K = 64 4 % of them (as the
    /// registry itself observes). For K < 1024, `atol` therefore grows by `sqrt(1024 / K)`, which
    /// keeps its size relative to the outputs what it is at K = 1024.
    fn tolerance(&self) -> Tolerance {
        let published = self.published_tolerance();
        if self.k >= FULL_K {
            return published;
        }
        let scale = (FULL_K as f32 / self.k as f32).sqrt();
        Tolerance { atol: published.atol * scale, ..published }
    }

    /// BFP16 operands alone leave 40.6 dB, the registry's published `mean_rel_L1` of 9.3e-3; below
    /// 37 something else is wrong. `direct` adds the noise of a bf16 accumulator, for which the
    /// floor is `40 - 10 log10(K / 2048)` dB but 50 at most; both noises add up.
    fn sqnr_floor(&self) -> f64 {
        const BFP16: f64 = 37.0;
        match self.output {
            GemmOutput::F32External
            | GemmOutput::F32Direct
            | GemmOutput::Drain
            | GemmOutput::FusedCast => BFP16,
            GemmOutput::Direct => {
                let accumulator = (40.0 - 10.0 * (self.k as f64 / 2048.0).log10()).min(50.0);
                let noise = |decibels: f64| 10f64.powf(-decibels / 10.0);
                -10.0 * (noise(BFP16) + noise(accumulator)).log10()
            }
        }
    }

    const BIAS: Bias = Bias::None;

    type Tiling = GemmTiling;

    fn tilings(&self) -> impl Iterator<Item = GemmTiling> {
        tiling::tilings(self)
    }

    fn check_tiling(&self, tiling: &GemmTiling) -> Result<(), Broken> {
        tiling::check(tiling, self)
    }

    fn check_fused(&self, tiling: &GemmTiling, launches: usize) -> Result<(), Broken> {
        tiling::check_fused(tiling, self, launches)
    }

    fn fused_note(&self, tiling: &GemmTiling) -> Option<&'static str> {
        tiling::fused_note(tiling, self)
    }

    /// The kernel sets the mode. Under [`GemmOutput::FusedCast`] it is that of the separate cast
    /// launch, which does not: the product itself is accumulated in f32.
    fn core_rounding(&self) -> Rounding {
        match self.output {
            GemmOutput::F32External
            | GemmOutput::F32Direct
            | GemmOutput::Drain
            | GemmOutput::Direct => Rounding::NearestEven,
            GemmOutput::FusedCast => Rounding::Floor,
        }
    }

    type Shape = GemmShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/gemm.json"));

    const METHODS: &'static [GemmOutput] = &GemmOutput::ALL;

    fn shape(&self) -> GemmShape {
        GemmShape { m: self.m, k: self.k, n: self.n }
    }

    fn from_shape(GemmShape { m, k, n }: GemmShape) -> Self {
        Self { m, k, n, output: GemmOutput::F32External }
    }

    fn method(&self) -> Option<GemmOutput> {
        Some(self.output)
    }

    fn with_method(self, output: GemmOutput) -> Self {
        Self { output, ..self }
    }

    fn band(&self, published: Figure) -> Band {
        Band::of_known_steps(published)
    }

    fn published_inputs(&self) -> Option<String> {
        Some(self.shape().to_string())
    }

    fn products(&self) -> f64 {
        self.m as f64 * self.k as f64 * self.n as f64
    }

    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        Box::new(datapath::Product { gemm: *self, rounding: prepare.rounding })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        // A remainder in the rows of a tile, the columns of a panel and the K of a group.
        let uneven = GemmOutput::ALL.map(|output| Self { m: 83, k: 104, n: 77, output });
        let deep = GemmOutput::ALL.map(|output| Self { m: 40, k: 576, n: 70, output });
        let large = Self { m: 200, k: 256, n: 96, output: GemmOutput::Drain };
        uneven.into_iter().chain(deep).chain([large]).collect()
    }
}

#[cfg(test)]
mod tests;

//! Rotary position embedding, half-split: each pair of products in one f32 accumulator, narrowed
//! once.

mod datapath;

use std::fmt;

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{Datapath, Prepare},
    fidelity::band::Band,
    kernel::{
        Bias, Inputs, KernelSpec, OpError, Operand, SMOKE_ROWS, SQNR_FLOOR, ShapeType, Tolerance,
        legality, number,
    },
    registry::figures::Figure,
    tiling::{
        kind::TilingType,
        require::{COLUMNS, VECTOR, at_most, multiple},
        rule::{Broken, Rule},
    },
};

/// Rotary position embedding of `x[tokens, heads * head_dim]`, half-split: element `i` of a head is
/// rotated with element `i + rotary_dim / 2`, and those from `rotary_dim` on stay as they are.
///
/// The table is `lut[tokens, rotary_dim]`, a row being the cosines of the `rotary_dim / 2` angles
/// and then their sines; one row serves all heads of its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Rope {
    /// Tokens: rows of x and of the table.
    pub tokens: usize,
    /// Heads of each token.
    pub heads: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Elements of a head that are rotated, the first ones; at most `head_dim`.
    pub rotary_dim: usize,
}

/// Heads of all tokens, one a row, each with a row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RopeShape {
    /// Rows: tokens times heads.
    pub rows: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// How many of them are rotated, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotary_dim: Option<usize>,
}

impl fmt::Display for RopeShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_d{}", self.rows, self.head_dim)?;
        self.rotary_dim.map_or(Ok(()), |rotary_dim| write!(f, "_r{rotary_dim}"))
    }
}

impl ShapeType for RopeShape {
    fn parse(key: &str) -> Option<Self> {
        let mut parts = key.split('_');
        let (rows, head_dim) = (number(parts.next()?, "")?, number(parts.next()?, "d")?);
        let rotary_dim = match parts.next() {
            Some(part) => Some(number(part, "r")?),
            None => None,
        };
        parts.next().is_none().then_some(Self { rows, head_dim, rotary_dim })
    }

    fn dimensions(&self) -> Vec<usize> {
        vec![self.rows, self.head_dim, self.rotary_dim.unwrap_or(self.head_dim)]
    }
}

/// How the rows of a `RoPE` are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RopeTiling {
    /// Compute tiles along both axes, each with an equal share of the rows.
    pub herd: [usize; 2],
}

impl fmt::Display for RopeTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.herd[0], self.herd[1])
    }
}

impl TilingType for RopeTiling {
    const PARTS: &'static str = "herd";

    fn extents(&self) -> Vec<usize> {
        self.herd.into()
    }
}

/// Base of the angles in the registry's harness.
const THETA: f64 = 500_000.0;

impl KernelSpec for Rope {
    const NAME: &'static str = "rope";

    /// `t256_h9_d64`, and `t256_h24_d128_r96` where 96 of 128 are rotated.
    fn shape_key(&self) -> String {
        let Self { tokens, heads, head_dim, rotary_dim } = *self;
        let whole = format!("t{tokens}_h{heads}_d{head_dim}");
        if rotary_dim == head_dim { whole } else { format!("{whole}_r{rotary_dim}") }
    }

    fn operands(&self) -> Vec<Operand> {
        let shape = [self.tokens, self.heads * self.head_dim];
        vec![
            Operand::read("x", shape),
            Operand::read("lut", [self.tokens, self.rotary_dim]),
            Operand::write("y", shape),
        ]
    }

    fn head_dim(&self) -> Option<usize> {
        Some(self.head_dim)
    }

    /// The part that is rotated is a whole head to the kernel's loop, and the rest is copied in
    /// vectors, so both widths are subject to the rule for a head.
    fn check(&self) -> Result<(), OpError> {
        let Self { tokens, heads, head_dim, rotary_dim } = *self;
        legality::non_zero(self, &[("tokens", tokens), ("heads", heads)])?;
        legality::non_zero(self, &[("head_dim", head_dim), ("rotary_dim", rotary_dim)])?;
        legality::vectors(self, ("head_dim", head_dim))?;
        legality::vectors(self, ("rotary_dim", rotary_dim))?;
        if rotary_dim > head_dim {
            let reason = format!("rotary_dim = {rotary_dim} is larger than head_dim = {head_dim}");
            return Err(legality::unsupported(self, reason));
        }
        Ok(())
    }

    fn smoke(&self) -> Self {
        Self { tokens: self.tokens.min(SMOKE_ROWS), ..*self }
    }

    fn reference(&self, inputs: Inputs<'_>) -> Vec<f32> {
        let [x, lut] = inputs.all();
        let &Self { heads, head_dim, rotary_dim, .. } = self;
        let half = rotary_dim / 2;
        let mut y = x.to_vec();
        y.par_chunks_mut(heads * head_dim).zip(lut.par_chunks(rotary_dim)).for_each(|(y, lut)| {
            let (cosines, sines) = lut.split_at(half);
            for head in y.chunks_mut(head_dim) {
                for i in 0..half {
                    let (a, b) = (head[i], head[i + half]);
                    head[i] = a * cosines[i] - b * sines[i];
                    head[i + half] = a * sines[i] + b * cosines[i];
                }
            }
        });
        y
    }

    /// The table: angles in f64, cosine and sine narrowed to bf16 through f32, as the registry's
    /// harness does.
    fn computed_input(&self, operand: &str) -> Option<Vec<bf16>> {
        if operand != "lut" {
            return None;
        }
        let half = self.rotary_dim / 2;
        let frequency = |i: usize| THETA.powf(-2.0 * i as f64 / self.rotary_dim as f64);
        let narrow = |x: f64| bf16::from_f32(x as f32);
        let row = |token: usize| {
            let angle = move |i: usize| token as f64 * frequency(i);
            let cosines = (0..half).map(move |i| narrow(angle(i).cos()));
            cosines.chain((0..half).map(move |i| narrow(angle(i).sin())))
        };
        Some((0..self.tokens).flat_map(row).collect())
    }

    /// Results are integers of magnitude at most 2.
    const EXACT_INTEGERS: bool = true;

    fn published_tolerance(&self) -> Tolerance {
        Tolerance::of_registry(5e-2)
    }

    fn sqnr_floor(&self) -> f64 {
        SQNR_FLOOR
    }

    const BIAS: Bias = Bias::None;

    type Tiling = RopeTiling;

    fn tilings(&self) -> impl Iterator<Item = RopeTiling> {
        (1..=COLUMNS).rev().map(|x| RopeTiling { herd: [x, 1] })
    }

    fn check_tiling(&self, tiling: &RopeTiling) -> Result<(), Broken> {
        let tiles = tiling.herd[0] * tiling.herd[1];
        at_most(Rule::DmaChannels, ("herd_x * herd_y", tiles), COLUMNS)?;
        let rows = self.tokens * self.heads;
        multiple(Rule::RowsDivisible, ("rows", rows), ("herd_x * herd_y", tiles))?;
        multiple(Rule::RowVectors, ("head_dim", self.head_dim), ("a vector", VECTOR))?;
        multiple(Rule::RowVectors, ("rotary_dim", self.rotary_dim), ("a vector", VECTOR))
    }

    type Shape = RopeShape;

    const ROWS: Option<&'static str> = Some(include_str!("../../registry/rope.json"));

    /// t tokens with h heads are t * h rows.
    fn shape(&self) -> RopeShape {
        let Self { tokens, heads, head_dim, rotary_dim } = *self;
        let rotary_dim = (rotary_dim != head_dim).then_some(rotary_dim);
        RopeShape { rows: tokens * heads, head_dim, rotary_dim }
    }

    /// One head a token.
    fn from_shape(RopeShape { rows, head_dim, rotary_dim }: RopeShape) -> Self {
        let rotary_dim = rotary_dim.unwrap_or(head_dim);
        Self { tokens: rows, heads: 1, head_dim, rotary_dim }
    }

    fn band(&self, published: Figure) -> Band {
        Band::of_known_steps(published)
    }

    /// Of whole heads, one a token: each row has a row of the table.
    fn published_inputs(&self) -> Option<String> {
        (self.heads == 1 && self.rotary_dim == self.head_dim).then(|| self.shape().to_string())
    }

    fn datapath(&self, prepare: &mut Prepare<'_>) -> Box<dyn Datapath> {
        Box::new(datapath::Rotation { rope: *self, rounding: prepare.rounding })
    }

    #[cfg(test)]
    fn samples() -> Vec<Self> {
        vec![
            Self { tokens: 7, heads: 3, head_dim: 48, rotary_dim: 48 },
            Self { tokens: 7, heads: 3, head_dim: 128, rotary_dim: 96 },
            Self { tokens: 101, heads: 9, head_dim: 64, rotary_dim: 48 },
        ]
    }
}

#[cfg(test)]
mod tests;

//! Half-split `RoPE`: both products and their sum in one f32 accumulator, narrowed once; what is
//! not rotated is copied.

use std::fmt;

use half::bf16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    datapath::{
        Datapath, Operands, Output, Prepare, Scratch, Unwritten,
        spread::{PIECE, SERIAL},
        task_by_rounding,
        vector::VectorUnit,
    },
    fidelity::band::Band,
    kernel::{
        Bias, Inputs, KernelSpec, OpError, Operand, SMOKE_ROWS, SQNR_FLOOR, ShapeType, Tolerance,
        legality, number,
    },
    registry::figures::Figure,
    rounding::{Rounding, widen},
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
        Box::new(Rotation { rope: *self, rounding: prepare.rounding })
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

/// `y = rope(x)`, `x[tokens, heads * head_dim]` by `lut[tokens, rotary_dim]`.
struct Rotation {
    rope: Rope,
    rounding: Rounding,
}

impl Datapath for Rotation {
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        _: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten> {
        let &Self { rope, rounding } = self;
        let [x, lut] = operands.bf16()?;
        let y = out.bf16();
        if y.len() <= SERIAL {
            unit.run(Tokens { rope, rounding, x, lut, y });
            return Ok(());
        }
        let tokens = (PIECE / (rope.heads * rope.head_dim)).max(1);
        let (wide, narrow) = (tokens * rope.heads * rope.head_dim, tokens * rope.rotary_dim);
        let pieces = y.par_chunks_mut(wide).zip(x.par_chunks(wide).zip(lut.par_chunks(narrow)));
        pieces.for_each(|(y, (x, lut))| unit.run(Tokens { rope, rounding, x, lut, y }));
        Ok(())
    }
}

struct Tokens<'a> {
    rope: Rope,
    rounding: Rounding,
    x: &'a [bf16],
    lut: &'a [bf16],
    y: &'a mut [bf16],
}

task_by_rounding!(Tokens);

impl Tokens<'_> {
    #[inline(always)]
    fn each(self, narrow: impl Fn(f32) -> bf16 + Copy) {
        let Rope { heads, head_dim, rotary_dim, .. } = self.rope;
        let width = heads * head_dim;
        let tokens = self.y.chunks_exact_mut(width).zip(self.x.chunks_exact(width));
        for ((y, x), lut) in tokens.zip(self.lut.chunks_exact(rotary_dim)) {
            let (cosines, sines) = lut.split_at(rotary_dim / 2);
            for (y, x) in y.chunks_exact_mut(head_dim).zip(x.chunks_exact(head_dim)) {
                let ((x, x_rest), (y, y_rest)) =
                    (x.split_at(rotary_dim), y.split_at_mut(rotary_dim));
                rotate(x, cosines, sines, y, narrow);
                y_rest.copy_from_slice(x_rest);
            }
        }
    }
}

#[inline(always)]
fn rotate(
    x: &[bf16],
    cosines: &[bf16],
    sines: &[bf16],
    y: &mut [bf16],
    narrow: impl Fn(f32) -> bf16,
) {
    let half = cosines.len();
    let (x_low, x_high) = x.split_at(half);
    let (y_low, y_high) = y.split_at_mut(half);
    let factors = cosines.iter().zip(sines);
    let outputs = y_low.iter_mut().zip(y_high);
    for (((&a, &b), (&cos, &sin)), (low, high)) in
        x_low.iter().zip(x_high).zip(factors).zip(outputs)
    {
        let (a, b, cos, sin) = (widen(a), widen(b), widen(cos), widen(sin));
        *low = narrow(a * cos - b * sin);
        *high = narrow(a * sin + b * cos);
    }
}

#[cfg(test)]
mod tests;

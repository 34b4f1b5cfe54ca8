//! The functions that the hardware approximates, and what can replace them.

mod choice;
mod table;

use half::bf16;

use crate::{
    Rounding,
    rounding::{nearest_even, toward_zero, widen},
};
pub use choice::FunctionError;
use choice::function;
pub use table::{Bf16Table, TableError};

/// Which functions the emulated NPU uses. The hardware models differ in how well they are known:
/// exp2 is *derived*, the reciprocal *read* from source, tanh *fitted* and the reciprocal root
/// *assumed*.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Functions {
    /// `2^x`, used by FlashAttention and softmax.
    pub exp2: Exp2,
    /// `tanh(x)`, used by SiLU-and-Mul and GELU.
    pub tanh: Tanh,
    /// `1 / x`, used by FlashAttention and softmax for the denominator.
    pub reciprocal: Reciprocal,
    /// `1 / sqrt(x)`, used by the norms.
    pub rsqrt: Rsqrt,
}

impl Functions {
    /// The hardware's.
    pub const HARDWARE: Self = Self {
        exp2: Exp2::Hardware,
        tanh: Tanh::Hardware,
        reciprocal: Reciprocal::Hardware,
        rsqrt: Rsqrt::Hardware,
    };

    /// The field's name of each function that is not the hardware's, with the choice as text.
    pub fn replaced(&self) -> impl Iterator<Item = (&'static str, String)> {
        let functions = [
            ("exp2", self.exp2 != Exp2::Hardware, self.exp2.to_string()),
            ("tanh", self.tanh != Tanh::Hardware, self.tanh.to_string()),
            ("reciprocal", self.reciprocal != Reciprocal::Hardware, self.reciprocal.to_string()),
            ("rsqrt", self.rsqrt != Rsqrt::Hardware, self.rsqrt.to_string()),
        ];
        functions.into_iter().filter_map(|(name, replaced, text)| replaced.then_some((name, text)))
    }

    /// Each function that is given by a table, by its field's name.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &Bf16Table)> {
        let tables = [
            ("exp2", self.exp2.table()),
            ("tanh", self.tanh.table()),
            ("reciprocal", self.reciprocal.table()),
            ("rsqrt", self.rsqrt.table()),
        ];
        tables.into_iter().filter_map(|(name, table)| Some((name, table?)))
    }
}

function! {
    /// `2^x`: f32 in, bf16 out.
    ///
    /// The hardware model is *derived*: the vendor's page says that the input is truncated to 11
    /// fractional bits and the result is an approximation; of some 15 variants, only this one
    /// reproduces the published FlashAttention figures, six of them held out: chop x to 11
    /// fractional bits, `2^floor(x) * (1 + frac)`, chop to bf16. It is up to 6.1 % high.
    Exp2 {
        /// The hardware model.
        Hardware,
        /// `2^x`, narrowed to nearest even.
        Exact,
        /// A sweep of an instruction: entry `i` is the result for the bf16 of bits `i`. Arguments
        /// are narrowed to bf16 (nearest even) to look them up, which is coarser than what the
        /// instruction reads.
        Table,
    }
}

function! {
    /// `tanh(x)`: bf16 in, bf16 out.
    ///
    /// The hardware model is *fitted*, not derived: the hardware's function is not described
    /// anywhere. `|t| = max(|tanh x| - c (1 - |tanh x|), 0)` with `c = 0.0134`, narrowed to nearest
    /// even, meets the published mean errors of SiLU and GELU and their largest absolute errors,
    /// but not SiLU's largest relative error (0.12 to 0.19 against 0.41).
    Tanh {
        /// The fitted surrogate.
        Hardware,
        /// `tanh(x)`, narrowed to nearest even.
        Exact,
        /// A sweep of an instruction: entry `i` is the result for the bf16 of bits `i`.
        Table,
    }
}

function! {
    /// `1 / x`: bf16 in, bf16 out.
    ///
    /// The hardware model is *read* from the source of mlir-air's FlashAttention kernel: a seed by
    /// a magic constant and two steps of refinement, every intermediate narrowed in the core's
    /// mode. It moves FlashAttention's published mean error by less than 1e-4, so the figures
    /// neither support nor exclude it. For softmax it is *assumed* to be the same.
    Reciprocal {
        /// The kernel's own steps.
        Hardware,
        /// `1 / x`, narrowed to nearest even.
        Exact,
        /// Entry `i` is the result for the bf16 of bits `i`.
        Table,
    }
}

function! {
    /// `1 / sqrt(x)`: f32 in, f32 out; the norms narrow the result in their core's mode.
    ///
    /// The hardware model is *assumed*: its scalar instruction is taken to be exact to an f32. The
    /// eight published RMSNorm figures leave room for a relative error of about 1e-4.
    Rsqrt {
        /// The root and its reciprocal, each rounded to f32.
        Hardware,
        /// `1 / sqrt(x)` in f64, rounded to f32 once.
        Exact,
        /// Entry `i` is the result for the bf16 of bits `i`. Arguments are narrowed to bf16
        /// (nearest even) to look them up, which is coarser than what the instruction reads.
        Table,
    }
}

/// Beyond these `2^x` is 0 or infinite in bf16 in any case; keeps the model's arithmetic in range.
const EXP2_RANGE: (f32, f32) = (-250.0, 250.0);
/// Fractional bits that the hardware's `2^x` reads.
const EXP2_STEPS: f64 = 2048.0;
/// How far the surrogate tanh falls short at 0; fitted to the registry's SiLU and GELU figures.
const TANH_SHORTFALL: f64 = 0.0134;

impl Exp2 {
    /// `2^x`. NaN stays NaN.
    pub fn eval(&self, x: f32) -> bf16 {
        match self {
            _ if x.is_nan() => bf16::NAN,
            Self::Hardware => {
                let x = f64::from(x.clamp(EXP2_RANGE.0, EXP2_RANGE.1));
                let x = (x * EXP2_STEPS).trunc() / EXP2_STEPS;
                let whole = x.floor();
                toward_zero((whole.exp2() * (1.0 + (x - whole))) as f32)
            }
            Self::Exact => bf16::from_f64(f64::from(x).exp2()),
            Self::Table(table) => table.get(nearest_even(x)),
        }
    }
}

impl Tanh {
    /// `tanh(x)`. NaN stays NaN.
    pub fn eval(&self, x: f32) -> bf16 {
        let tanh = f64::from(x).tanh();
        match self {
            Self::Hardware => {
                let magnitude = tanh.abs() - TANH_SHORTFALL * (1.0 - tanh.abs());
                let magnitude = if magnitude < 0.0 { 0.0 } else { magnitude };
                bf16::from_f64(magnitude.copysign(tanh))
            }
            Self::Exact => bf16::from_f64(tanh),
            Self::Table(table) => table.get(nearest_even(x)),
        }
    }
}

impl Reciprocal {
    /// `1 / v` of a `v` that is exact in bf16, on a core in mode `rounding`.
    pub fn eval(&self, v: f32, rounding: Rounding) -> bf16 {
        match self {
            Self::Hardware => refined_reciprocal(v, rounding),
            Self::Exact => bf16::from_f64(f64::from(v).recip()),
            Self::Table(table) => table.get(nearest_even(v)),
        }
    }
}

fn refined_reciprocal(v: f32, rounding: Rounding) -> bf16 {
    const SEED: u16 = 0x7EB5;
    const K1: f32 = 1.9375; // bf16(1.9395974)
    const K2: f32 = 1.436_142;
    let round = |x| widen(rounding.narrow(x));
    let bits = (v.to_bits() >> 16) as u16;
    let y = widen(bf16::from_bits(SEED.wrapping_sub(bits)));
    let a = round(round(K2 - v * y) * y);
    let y = round(-(a * K1));
    rounding.narrow(-(y * round(y * v + 2.0)))
}

impl Rsqrt {
    /// `1 / sqrt(x)`.
    pub fn eval(&self, x: f32) -> f32 {
        match self {
            Self::Hardware => 1.0 / x.sqrt(),
            Self::Exact => f64::from(x).sqrt().recip() as f32,
            Self::Table(table) => widen(table.get(nearest_even(x))),
        }
    }
}

//! The transcendental functions of the hardware, and what may take their place.

use std::sync::Arc;

use half::bf16;

use crate::rounding::{nearest_even, toward_zero};

/// Which exp2 and tanh the emulated NPU has.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// `2^x`, used by FlashAttention.
    pub exp2: Exp2,
    /// `tanh(x)`, used by SiLU-and-Mul.
    pub tanh: Tanh,
}

/// `2^x`: f32 in, bf16 out.
///
/// The hardware model is *derived*: the vendor's page says that the input is truncated to 11
/// fractional bits and the result is an approximation; of some 15 variants, this one alone
/// reproduces the published FlashAttention figures, six of them held out: chop x to 11 fractional
/// bits, `2^floor(x) * (1 + frac)`, chop to bf16. It is up to 6.1 % high.
#[derive(Clone, Debug, Default)]
pub enum Exp2 {
    /// The hardware model.
    #[default]
    Hardware,
    /// `2^x`, narrowed to nearest even.
    Exact,
    /// A sweep of an instruction: entry `i` is the result for the bf16 of bits `i`. Arguments are
    /// narrowed to bf16 (nearest even) to look them up, which is coarser than what the instruction
    /// reads.
    Table(Bf16Table),
}

/// `tanh(x)`: bf16 in, bf16 out.
///
/// The surrogate is *fitted*, not derived: the hardware's function is not described anywhere. `|t|
/// = max(|tanh x| - c (1 - |tanh x|), 0)` with `c = 0.0134`, narrowed to nearest even, meets the
/// published mean errors of SiLU and GELU and their largest absolute errors, but not SiLU's largest
/// relative error (0.12 to 0.19 against 0.41).
#[derive(Clone, Debug, Default)]
pub enum Tanh {
    /// The fitted surrogate.
    #[default]
    Surrogate,
    /// `tanh(x)`, narrowed to nearest even.
    Exact,
    /// A sweep of an instruction: entry `i` is the result for the bf16 of bits `i`.
    Table(Bf16Table),
}

/// A function of bf16 given by all of its 65,536 values.
#[derive(Clone, Debug)]
pub struct Bf16Table(Arc<[bf16]>);

/// A table of another length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a table of a bf16 function has 65,536 entries, one for each bit pattern, but {found} were given"
)]
pub struct TableError {
    /// Number of entries given.
    pub found: usize,
}

impl Bf16Table {
    /// A table whose entry `i` is the function's value at the bf16 of bits `i`.
    ///
    /// # Errors
    /// If there are not 65,536 entries.
    pub fn new(entries: impl Into<Arc<[bf16]>>) -> Result<Self, TableError> {
        let entries = entries.into();
        match entries.len() {
            65_536 => Ok(Self(entries)),
            found => Err(TableError { found }),
        }
    }

    fn get(&self, x: bf16) -> bf16 {
        self.0[usize::from(x.to_bits())]
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
            Self::Surrogate => {
                let magnitude = tanh.abs() - TANH_SHORTFALL * (1.0 - tanh.abs());
                let magnitude = if magnitude < 0.0 { 0.0 } else { magnitude };
                bf16::from_f64(magnitude.copysign(tanh))
            }
            Self::Exact => bf16::from_f64(tanh),
            Self::Table(table) => table.get(nearest_even(x)),
        }
    }
}

//! Tilings of kernels whose rows are worked on independently: norms and softmax.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    kind::TilingType,
    require::{COLUMNS, VECTOR, at_most, fits_l1, multiple},
    rule::{Broken, Rule},
};
use crate::kernel::Operand;

/// How the rows of a norm or a softmax are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NormTiling {
    /// Compute tiles, each with an equal share of the rows.
    pub herd_x: usize,
}

impl fmt::Display for NormTiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.herd_x)
    }
}

impl TilingType for NormTiling {
    const PARTS: &'static str = "herd_x";

    fn extents(&self) -> Vec<usize> {
        vec![self.herd_x]
    }
}

/// The most compute tiles first.
pub(crate) fn tilings() -> impl Iterator<Item = NormTiling> {
    (1..=COLUMNS).rev().map(|herd_x| NormTiling { herd_x })
}

/// A compute tile holds one row of each operand.
pub(crate) fn check(
    tiling: NormTiling,
    [rows, cols]: [usize; 2],
    operands: &[Operand],
) -> Result<(), Broken> {
    let herd = tiling.herd_x;
    at_most(Rule::HerdFitsFabric, ("herd_x", herd), COLUMNS)?;
    multiple(Rule::RowsDivisible, ("rows", rows), ("herd_x", herd))?;
    multiple(Rule::RowVectors, ("cols", cols), ("a vector", VECTOR))?;
    let row =
        |operand: &Operand| operand.shape.last().map_or(0, |cols| cols * operand.dtype.size());
    fits_l1(operands.iter().map(row).sum())
}

//! One measured configuration.

use serde::{Deserialize, Serialize};

use super::{Figures, Measured, Shape, Target};
use crate::{
    kernel::OpError,
    kernels::{GemmOutput, Tier},
    op::{Kernel, Op},
    tiling::{Illegal, Tiling},
};

/// A kernel and shape that was measured, with the tiling it was built with.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Kernel and dimensions.
    pub shape: Shape,
    /// How a GEMM's accumulator becomes its output; `None` for the other kernels.
    pub method: Option<GemmOutput>,
    /// How it was cut into tiles. It may be absent on the emulator, which does not cut kernels into
    /// tiles.
    pub tiling: Option<Tiling>,
    /// What was measured.
    pub figures: Figures,
    /// The tier for which this is the fastest method of its shape and output type.
    pub best_for: Option<Tier>,
    /// Which models use it, and where.
    pub used_by: Vec<String>,
    /// Where the figures come from.
    pub measured: Measured,
}

/// A row as it stands in a file, its shape and tiling typed by the file's kernel.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Entry<S, T> {
    pub(super) shape: S,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<super::schema::MethodSchema>"))]
    pub(super) method: Option<GemmOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tiling: Option<T>,
    pub(super) figures: Figures,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) best_for: Option<Tier>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) used_by: Vec<String>,
    pub(super) measured: Measured,
}

/// What identifies a row, in the order of the files.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    kernel: Kernel,
    dimensions: Vec<usize>,
    variant: usize,
    method: Option<usize>,
    device: Target,
    toolchain: String,
}

/// What can be wrong with a row.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A shape that no kernel can be built for.
    #[error(transparent)]
    Op(#[from] OpError),
    /// A tiling that the fabric cannot take.
    #[error(transparent)]
    Illegal(#[from] Box<Illegal>),
    /// A GEMM without a method, or another kernel with one.
    #[error("a GEMM has a `method`, and no other kernel has one; add it or remove it")]
    Method,
    /// A row measured on silicon without a tiling.
    #[error("it was measured on silicon but has no `tiling`; add the one it was built with")]
    NoTiling,
    /// A row without a figure of its accuracy.
    #[error("it has no accuracy figure; measure `mean_rel_l1`")]
    NoAccuracy,
    /// A figure that is not the size of anything.
    #[error(
        "`{figure}` is {value}, but a figure must be finite and not negative; measure it again"
    )]
    Figure {
        /// Its name.
        figure: &'static str,
        /// Its value.
        value: String,
    },
    /// `best_for` of a tier that the method does not have.
    #[error("`best_for` is {tier}, which is not the tier of its method; remove it")]
    Tier {
        /// The tier.
        tier: Tier,
    },
    /// A row that does not say where its figures come from.
    #[error("`measured.{field}` is empty; say where the figures come from")]
    Unsourced {
        /// Name of the field.
        field: &'static str,
    },
    /// A configuration that appears twice.
    #[error("it appears twice for this device and toolchain; keep one")]
    Duplicate,
    /// A second row that is marked as the best.
    #[error("`{other}` is already the best for this shape, output type and tier; keep only one")]
    TwoBest {
        /// Name of the other row.
        other: String,
    },
    /// Out of order.
    #[error(
        "it belongs before `{previous}`; sort the rows by dimensions, method, device and toolchain"
    )]
    Unsorted {
        /// Name of the row before.
        previous: String,
    },
}

impl Row {
    /// The stable name, as in `cargo npugate registry`: `gemm::2048x2048x512::drain`,
    /// `rope::65536_d64`.
    pub fn name(&self) -> String {
        name(&self.shape, self.method)
    }

    /// The op as the registry measures it.
    ///
    /// # Errors
    /// [`RowError::Method`] for a row that no registry accepts.
    pub fn op(&self) -> Result<Op, RowError> {
        self.shape.op(self.method).ok_or(RowError::Method)
    }

    /// The tier of its method; kernels without methods have no tier.
    pub fn tier(&self) -> Option<Tier> {
        self.method.map(GemmOutput::tier)
    }

    /// What rows are sorted by, and unique in.
    pub(super) fn key(&self) -> Key {
        Key {
            kernel: self.shape.kernel(),
            dimensions: self.shape.dimensions(),
            variant: self.shape.variant(),
            method: self.method.and_then(|own| GemmOutput::ALL.iter().position(|&m| m == own)),
            device: self.measured.device,
            toolchain: self.measured.toolchain.to_string(),
        }
    }

    /// Checks what can be known of a row by itself.
    pub(super) fn check(&self) -> Result<(), RowError> {
        let op = self.op()?;
        op.check()?;
        match &self.tiling {
            Some(tiling) => tiling.check(&op).map_err(Box::new)?,
            None if self.measured.device.is_silicon() => return Err(RowError::NoTiling),
            None => {}
        }
        let Figures { mean_rel_l1, max_rel, max_abs, .. } = self.figures;
        if mean_rel_l1.or(max_rel).or(max_abs).is_none() {
            return Err(RowError::NoAccuracy);
        }
        if let Some((figure, value)) = self.figures.iter().find(|(_, value)| !value.is_sound()) {
            return Err(RowError::Figure { figure, value: value.0.to_string() });
        }
        let Measured { date, source, .. } = &self.measured;
        for (field, text) in [("date", date), ("source", source)] {
            if text.trim().is_empty() {
                return Err(RowError::Unsourced { field });
            }
        }
        match self.best_for {
            Some(best) if self.tier() != Some(best) => Err(RowError::Tier { tier: best }),
            _ => Ok(()),
        }
    }
}

/// The name that a row of `op` has: see [`Row::name`].
pub fn row_name(op: &Op) -> String {
    name(&Shape::of(op), op.method())
}

fn name(shape: &Shape, method: Option<GemmOutput>) -> String {
    match method {
        Some(method) => format!("{shape}::{}", method.name()),
        None => shape.to_string(),
    }
}

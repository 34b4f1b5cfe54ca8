//! What to build a shape with: measured on silicon, or refused.

use super::{Registry, Row, Shape};
use crate::{
    dtype::DType,
    kernel::KernelSpec,
    kernels::{GemmOutput, Tier},
    op::{Op, with_kernel},
};

/// Nearest shapes that a refusal names.
const NEAREST: usize = 3;

/// A question that the registry has no measurement for. It never guesses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unmeasured {
    /// No row of this shape.
    #[error(
        "{shape} was never measured on silicon{}; measure it, or use a shape that was",
        describe_nearest(.nearest)
    )]
    Shape {
        /// What was asked for.
        shape: String,
        /// Names of the nearest shapes that were measured, nearest first; see [`Shape::distance`].
        nearest: Vec<String>,
    },
    /// The shape was measured, but not in this output type and tier.
    #[error("{shape} was never measured for {wanted} on silicon, only for {}", .measured.join(", "))]
    Tier {
        /// What was asked for.
        shape: String,
        /// Output type and tier that were asked for.
        wanted: String,
        /// Those that were measured.
        measured: Vec<String>,
    },
    /// The shape was measured, but not by this method.
    #[error("{shape} was never measured with {wanted} on silicon, only with {}", .measured.join(", "))]
    Method {
        /// What was asked for.
        shape: String,
        /// The method that was asked for.
        wanted: &'static str,
        /// Those that were measured.
        measured: Vec<String>,
    },
    /// The shape was measured only for its accuracy.
    #[error(
        "{shape} was measured for {wanted}, but none of {} is marked as the best because no speed \
         was measured; choose one by its method",
        .rows.join(", ")
    )]
    NoBest {
        /// What was asked for.
        shape: String,
        /// Output type and tier that were asked for.
        wanted: String,
        /// The rows that there are.
        rows: Vec<String>,
    },
}

fn describe_nearest(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" (the nearest are {})", names.join(", ")),
    }
}

impl Registry {
    /// The best configuration that was measured on silicon for a GEMM's shape, output type and
    /// tier. For the other kernels, which have one output type (bf16) and no tiers, `tier` is
    /// ignored, and the fastest row of the shape is the best.
    ///
    /// # Errors
    /// [`Unmeasured`], which says what was measured. Rows of the emulator never count.
    pub fn best(&self, shape: &Shape, output: DType, tier: Tier) -> Result<&Row, Unmeasured> {
        let rows = self.on_silicon(shape)?;
        let label = |row: &&Row| answer(row.method);
        let methods = with_kernel!(shape.kernel(), Spec => Spec::METHODS);
        let wanted = (output, (!methods.is_empty()).then_some(tier));
        let fitting: Vec<&Row> = rows.iter().copied().filter(|row| label(row) == wanted).collect();
        if fitting.is_empty() {
            let mut measured: Vec<String> = rows.iter().map(|row| describe(label(row))).collect();
            measured.dedup();
            let (shape, wanted) = (shape.to_string(), describe(wanted));
            return Err(Unmeasured::Tier { shape, wanted, measured });
        }
        let best = match wanted.1 {
            Some(tier) => fitting.iter().find(|row| row.best_for == Some(tier)),
            None => fitting.iter().max_by(|a, b| speed(a).total_cmp(&speed(b))),
        };
        best.copied().ok_or_else(|| Unmeasured::NoBest {
            shape: shape.to_string(),
            wanted: describe(wanted),
            rows: fitting.iter().map(|row| row.name()).collect(),
        })
    }

    /// The configuration that was measured on silicon for a GEMM's shape and method.
    ///
    /// # Errors
    /// [`Unmeasured`], which says what was measured.
    pub fn best_by_method(&self, shape: &Shape, method: GemmOutput) -> Result<&Row, Unmeasured> {
        let rows = self.on_silicon(shape)?;
        let of_method = rows.iter().copied().filter(|row| row.method == Some(method));
        of_method.max_by(|a, b| speed(a).total_cmp(&speed(b))).ok_or_else(|| Unmeasured::Method {
            shape: shape.to_string(),
            wanted: method.name(),
            measured: rows
                .iter()
                .map(|row| row.method.map_or("no method", GemmOutput::name).to_owned())
                .collect(),
        })
    }

    /// The configuration that was measured on silicon for `op` itself: its shape and, for a GEMM,
    /// its method.
    ///
    /// # Errors
    /// [`Unmeasured`], which says what was measured.
    pub fn measured(&self, op: &Op) -> Result<&Row, Unmeasured> {
        let shape = Shape::of(op);
        match op.method() {
            Some(method) => self.best_by_method(&shape, method),
            None => self.best(&shape, DType::Bf16, Tier::High),
        }
    }

    fn on_silicon(&self, shape: &Shape) -> Result<Vec<&Row>, Unmeasured> {
        let silicon = || self.rows.iter().filter(|row| row.measured.device.is_silicon());
        let rows: Vec<&Row> = silicon().filter(|row| row.shape == *shape).collect();
        if !rows.is_empty() {
            return Ok(rows);
        }
        let mut others: Vec<(f64, Shape)> =
            silicon().filter_map(|row| Some((row.shape.distance(shape)?, row.shape))).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.dedup_by_key(|(_, shape)| *shape);
        let nearest = others.iter().take(NEAREST).map(|(_, shape)| shape.to_string()).collect();
        Err(Unmeasured::Shape { shape: shape.to_string(), nearest })
    }
}

/// What a row of this method answers: output type, and tier of a GEMM.
fn answer(method: Option<GemmOutput>) -> (DType, Option<Tier>) {
    match method {
        Some(method) => (method.dtype(), Some(method.tier())),
        None => (DType::Bf16, None),
    }
}

fn describe((output, tier): (DType, Option<Tier>)) -> String {
    match tier {
        Some(tier) => format!("{output} of tier {tier}"),
        None => output.to_string(),
    }
}

/// For comparing rows; a row without a speed comes last.
fn speed(row: &Row) -> f64 {
    row.figures.speed().map_or(f64::NEG_INFINITY, |figure| figure.0)
}

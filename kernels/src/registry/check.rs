//! Whether the rows of a file are sound, each by itself and with the others.

use std::cmp::Ordering;

use super::{RegistryError, Row, RowError};
use crate::kernels::GemmOutput;

/// Checks the rows of one file.
pub(super) fn rows(file: &str, rows: &[Row]) -> Result<(), RegistryError> {
    for (index, row) in rows.iter().enumerate() {
        let earlier = &rows[..index];
        let checked =
            row.check().and_then(|()| order(earlier, row)).and_then(|()| best(earlier, row));
        checked.map_err(|source| RegistryError::Row {
            file: file.to_owned(),
            row: index + 1,
            name: row.name(),
            source: Box::new(source),
        })?;
    }
    Ok(())
}

fn order(earlier: &[Row], row: &Row) -> Result<(), RowError> {
    let Some(previous) = earlier.last() else { return Ok(()) };
    match previous.key().cmp(&row.key()) {
        Ordering::Less => Ok(()),
        Ordering::Equal => Err(RowError::Duplicate),
        Ordering::Greater => Err(RowError::Unsorted { previous: previous.name() }),
    }
}

/// One best for each shape, output type and tier, on one device and toolchain.
fn best(earlier: &[Row], row: &Row) -> Result<(), RowError> {
    let competes = |other: &&Row| {
        row.best_for.is_some()
            && other.best_for == row.best_for
            && other.shape == row.shape
            && other.method.map(GemmOutput::dtype) == row.method.map(GemmOutput::dtype)
            && other.measured.device == row.measured.device
            && other.measured.toolchain == row.measured.toolchain
    };
    match earlier.iter().rev().find(competes) {
        Some(other) => Err(RowError::TwoBest { other: other.name() }),
        None => Ok(()),
    }
}

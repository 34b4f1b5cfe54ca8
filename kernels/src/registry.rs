//! What is known of each kernel and shape: tolerances, and the configurations that were measured.
//!
//! A [`Row`] is a kernel and shape that was measured, with the tiling it was built with and its
//! figures. [`Registry::published`] holds the 211 rows of the kernel registry of Xilinx/mlir-air
//! (commit e972f294, 2026-08-22), measured on NPU2 silicon from 2026-06 to 2026-08; they are in
//! `registry/KERNEL.json`, whose format is `registry/schema.json`. [`Registry::best`] answers what
//! to build a shape with, and never guesses.
//!
//! A kernel passes if every output element is within its [`Tolerance`] of the f32 reference.

mod check;
pub(crate) mod figures;
mod file;
mod lookup;
mod measured;
mod row;
#[cfg(test)]
pub(crate) mod schema;
mod shape;
mod tables;
#[cfg(test)]
mod tests;

use std::{io, path::Path, sync::LazyLock};

pub use figures::{Figure, Figures};
pub use file::RegistryError;
pub use lookup::Unmeasured;
pub use measured::{Measured, Target};
pub use row::{Row, RowError, row_name};
pub use shape::{Shape, UnknownShape};

use crate::{
    kernel::KernelSpec,
    op::{Kernel, Op, with_kernel, with_op},
};
pub use crate::{
    kernel::{FlatShape, RowsShape, Tolerance},
    kernels::{AttentionShape, GemmShape, GemvShape, RopeShape, Tier, UnknownTier},
};

/// The tolerance to gate `op` with: the published one, except for a GEMM with K < 1024, whose
/// outputs are larger. Its `atol` then keeps the size relative to the outputs that it has at K =
/// 1024.
pub fn tolerance(op: &Op) -> Tolerance {
    with_op!(op, kernel => kernel.tolerance())
}

/// The tolerance as the registry publishes it for `op`'s kernel and tier: that of the harness of
/// the kernel registry of Xilinx/mlir-air (`programming_examples/kernel_registry`, commit
/// e972f294), or the source that the kernel names.
pub fn published(op: &Op) -> Tolerance {
    with_op!(op, kernel => kernel.published_tolerance())
}

/// Measured configurations: sound, sorted, without duplicates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Registry {
    rows: Vec<Row>,
}

/// The files that are compiled in, by name.
fn published_files() -> impl Iterator<Item = (String, &'static str)> {
    Kernel::ALL.into_iter().filter_map(|kernel| {
        let rows = with_kernel!(kernel, Spec => Spec::ROWS)?;
        Some((file::file_name(kernel), rows))
    })
}

impl Registry {
    /// The compiled-in rows that were measured on silicon. The emulator's rows in the same files
    /// only record what this project's own models launch, so they are left out.
    pub fn published() -> &'static Self {
        static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
            let files: Vec<_> = published_files().collect();
            match Registry::parse(files.iter().map(|(name, text)| (name.as_str(), *text))) {
                Ok(mut registry) => {
                    registry.rows.retain(|row| row.measured.device.is_silicon());
                    registry
                }
                // The files are compiled in and read by a test: not in a tested build.
                Err(e) => panic!("the published registry is not sound: {e}"),
            }
        });
        &REGISTRY
    }

    /// Reads the files of a folder, `gemm.json` and so on, as far as they exist.
    ///
    /// # Errors
    /// If the folder has none of them, a file cannot be read, or a row is not sound; the error
    /// names the file and the first such row.
    pub fn load(folder: &Path) -> Result<Self, RegistryError> {
        let mut files = Vec::new();
        for kernel in Kernel::ALL {
            let name = file::file_name(kernel);
            let path = folder.join(&name);
            match std::fs::read_to_string(&path) {
                Ok(text) => files.push((name, text)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(RegistryError::Read { path, source }),
            }
        }
        if files.is_empty() {
            return Err(RegistryError::Empty { folder: folder.to_owned() });
        }
        Self::parse(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    fn parse<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for (file, text) in files {
            let rows = file::parse(file, text)?;
            check::rows(file, &rows)?;
            registry.rows.extend(rows);
        }
        registry.rows.sort_by_key(Row::key);
        Ok(registry)
    }

    /// All rows, sorted by kernel, dimensions, method, device and toolchain.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row called `name`; the one measured on silicon, if there are several.
    pub fn find(&self, name: &str) -> Option<&Row> {
        let named = || self.rows.iter().filter(|row| row.name() == name);
        named().find(|row| row.measured.device.is_silicon()).or_else(|| named().next())
    }

    /// The rows whose name contains any of `filters`; all, if there are none.
    pub fn matching(&self, filters: &[impl AsRef<str>]) -> Vec<&Row> {
        let matches = |row: &&Row| {
            let name = row.name();
            filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_ref()))
        };
        self.rows.iter().filter(matches).collect()
    }

    /// All rows of the shape of `op`, of any method: see [`Shape::of`].
    pub fn rows_of(&self, op: &Op) -> Vec<&Row> {
        let shape = Shape::of(op);
        self.rows.iter().filter(|row| row.shape == shape).collect()
    }

    /// Adds a row and returns the row that it replaces, which has the same name, device and
    /// toolchain.
    ///
    /// # Errors
    /// If the row is not sound, or would be a second best for its shape, output type and tier. The
    /// registry is then unchanged.
    pub fn insert(&mut self, row: Row) -> Result<Option<Row>, RegistryError> {
        let kernel = row.shape.kernel();
        let at = self.rows.binary_search_by_key(&row.key(), Row::key);
        let mut rows = self.rows.clone();
        let replaced = match at {
            Ok(index) => Some(std::mem::replace(&mut rows[index], row)),
            Err(index) => {
                rows.insert(index, row);
                None
            }
        };
        let of_kernel: Vec<Row> =
            rows.iter().filter(|row| row.shape.kernel() == kernel).cloned().collect();
        check::rows(&file::file_name(kernel), &of_kernel)?;
        self.rows = rows;
        Ok(replaced)
    }

    /// Writes the files of all kernels that have rows to a folder, each atomically. A registry
    /// that was loaded and not changed is written byte for byte as it was.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), RegistryError> {
        for kernel in Kernel::ALL {
            let rows: Vec<&Row> =
                self.rows.iter().filter(|row| row.shape.kernel() == kernel).collect();
            if rows.is_empty() {
                continue;
            }
            let path = folder.join(file::file_name(kernel));
            let text = file::render(kernel, &rows)
                .map_err(|e| RegistryError::Write { path: path.clone(), source: e.into() })?;
            file::write_atomically(&path, &text)?;
        }
        Ok(())
    }
}

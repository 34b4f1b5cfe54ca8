//! A function of bf16 by all of its values.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use half::bf16;

/// Values of bf16: one for each bit pattern.
const ENTRIES: usize = 1 << 16;

/// A function of bf16 given by all of its 65,536 values. Two are equal if their values are, bit for
/// bit.
#[derive(Clone)]
pub struct Bf16Table {
    entries: Arc<[bf16]>,
    /// Where it was read from.
    path: Option<PathBuf>,
}

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Of another length.
    #[error(
        "a table of a bf16 function has 65,536 entries, one for each bit pattern, but {found} were \
         given"
    )]
    Entries {
        /// Number of entries given.
        found: usize,
    },
    /// A file of another length.
    #[error(
        "{path} has {found} bytes, but a table of a bf16 function has 131,072: the function's value \
         at each of the 65,536 bit patterns in order, 2 bytes each, little-endian"
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        found: usize,
    },
    /// A file that cannot be read.
    #[error("the table {path} cannot be read ({source}); give the path of a file of 131,072 bytes")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Bf16Table {
    /// A table whose entry `i` is the function's value at the bf16 of bits `i`.
    ///
    /// # Errors
    /// [`TableError::Entries`] if there are not 65,536 entries.
    pub fn new(entries: impl Into<Arc<[bf16]>>) -> Result<Self, TableError> {
        let entries = entries.into();
        match entries.len() {
            ENTRIES => Ok(Self { entries, path: None }),
            found => Err(TableError::Entries { found }),
        }
    }

    /// Reads the values from a file of 131,072 bytes: 65,536 little-endian words, word `i` being
    /// the bits of the function's value at the bf16 of bits `i`.
    ///
    /// # Errors
    /// [`TableError::Unreadable`] and [`TableError::Length`], with the absolute path.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, TableError> {
        let path = path.into();
        let absolute = || std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let bytes = std::fs::read(&path)
            .map_err(|source| TableError::Unreadable { path: absolute(), source })?;
        if bytes.len() != 2 * ENTRIES {
            return Err(TableError::Length { path: absolute(), found: bytes.len() });
        }
        let words = bytes.as_chunks::<2>().0.iter();
        let entries = words.map(|&word| bf16::from_bits(u16::from_le_bytes(word))).collect();
        Ok(Self { entries, path: Some(path) })
    }

    /// The values: entry `i` is that at the bf16 of bits `i`.
    pub fn entries(&self) -> &[bf16] {
        &self.entries
    }

    /// Where the table was read from.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    #[inline(always)]
    pub(super) fn get(&self, x: bf16) -> bf16 {
        self.entries[usize::from(x.to_bits())]
    }
}

impl PartialEq for Bf16Table {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.entries.iter().zip(other.entries.iter());
        Arc::ptr_eq(&self.entries, &other.entries) || pairs.all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

impl Eq for Bf16Table {}

impl fmt::Debug for Bf16Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bf16Table").field("path", &self.path).finish_non_exhaustive()
    }
}

impl fmt::Display for Bf16Table {
    /// The path, where it has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => path.display().fmt(f),
            None => f.pad("in memory"),
        }
    }
}

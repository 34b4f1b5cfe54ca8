//! MLIR-AIR's `manifest.json`, as MLIR-AIR writes it.
//!
//! Current caches have `{"_toolchain": {..}, "entries": {NAME: ENTRY}}`, older ones only the
//! entries. Entries have `output_binary`, `kernel`, `insts` (null for an ELF) and, in newer caches,
//! `n_args`. Other keys are ignored.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use super::DeploymentError;

/// One compiled program, as the manifest describes it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(super) struct Entry {
    /// The ELF or xclbin.
    pub(super) output_binary: PathBuf,
    /// The kernel's name. MLIR-AIR writes `MLIR_AIE` for ELFs too, which have no such kernel.
    pub(super) kernel: Option<String>,
    /// The instructions of an xclbin's kernel.
    pub(super) insts: Option<PathBuf>,
    /// The number of buffers that the kernel takes.
    pub(super) n_args: Option<usize>,
}

/// Reads the entries of a manifest.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, Entry>, DeploymentError> {
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => DeploymentError::NoManifest { path: path.to_owned() },
        _ => DeploymentError::Unreadable { path: path.to_owned(), source },
    })?;
    let malformed = |message: String| DeploymentError::Manifest { path: path.to_owned(), message };
    let value: Value = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    let Value::Object(mut top) = value else {
        return Err(malformed("it is not an object".to_owned()));
    };
    let entries = match top.remove("entries") {
        Some(Value::Object(entries)) => entries,
        Some(_) => return Err(malformed("`entries` is not an object".to_owned())),
        None => top,
    };
    let entries = entries.into_iter().filter(|(name, _)| !name.starts_with('_'));
    entries
        .map(|(name, value)| match serde_json::from_value(value) {
            Ok(entry) => Ok((name, entry)),
            Err(error) => Err(DeploymentError::Entry {
                path: path.to_owned(),
                entry: name,
                message: error.to_string(),
            }),
        })
        .collect()
}

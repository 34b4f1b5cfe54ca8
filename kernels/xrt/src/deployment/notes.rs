//! Our own `programs.toml`, which adds what a manifest does not say.

use std::{collections::BTreeMap, fs, io, path::Path};

use npugate_kernels::Role;
use serde::Deserialize;

use super::DeploymentError;
use crate::InstructionUnit;

/// The notes about one program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    /// The manifest's entry; by default the program's own name.
    pub(super) entry: Option<String>,
    /// The instance of an ELF's kernel.
    pub(super) instance: Option<String>,
    /// The unit in which the number of instructions is passed to an xclbin's kernel.
    #[serde(default)]
    pub(super) ninstr: Ninstr,
    /// The buffers that the binary takes, in its own order.
    pub(super) args: Option<Vec<ArgNote>>,
}

/// The unit in which the number of instructions is passed to an xclbin's kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ninstr {
    /// MLIR-AIR's unit.
    #[default]
    Words,
    /// IRON's unit.
    Bytes,
}

impl From<Ninstr> for InstructionUnit {
    fn from(unit: Ninstr) -> Self {
        match unit {
            Ninstr::Words => Self::Words,
            Ninstr::Bytes => Self::Bytes,
        }
    }
}

/// A buffer that a binary takes.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgNote {
    /// The name of an argument of the program; any other name is the binary's own scratch memory.
    pub name: String,
    /// Who writes it.
    pub role: Role,
    /// Its size in bytes.
    pub bytes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    programs: BTreeMap<String, Note>,
}

/// Reads the notes of a deployment, if it has any.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, Note>, DeploymentError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(source) => {
            return Err(DeploymentError::Unreadable { path: path.to_owned(), source });
        }
    };
    let file: File = toml::from_str(&text).map_err(|error| DeploymentError::Notes {
        path: path.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    })?;
    Ok(file.programs)
}

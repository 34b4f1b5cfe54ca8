//! A folder with the compiled programs of a model.
//!
//! It is MLIR-AIR's kernel cache, unchanged: a [`manifest.json`](MANIFEST) with the binaries beside
//! it. Our own [`programs.toml`](NOTES) adds what the manifest does not say: the entry of a
//! program, the name of its kernel, and the order in which the kernel takes its arguments.
//!
//! ```toml
//! [programs.o_ffn]
//! entry = "o_gemm_ffn"        # the manifest's entry; by default the program's own name
//! instance = "o_gemm_ffn"     # of an ELF's kernel; by default the only one
//! ninstr = "bytes"            # how an xclbin counts instructions: `words` (default) or `bytes`
//! args = [                    # by default the program's own, in its order
//!     { name = "attn_ctx", role = "input", bytes = 294912 },
//!     { name = "scratch", role = "intermediate", bytes = 4096 }, # the binary's own
//! ]
//! ```

mod error;
mod manifest;
mod notes;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

pub use error::DeploymentError;
use manifest::Entry;
pub use notes::ArgNote;
use notes::Note;

use crate::InstructionUnit;

/// The file in which MLIR-AIR lists what it compiled.
pub const MANIFEST: &str = "manifest.json";

/// The file that adds what the manifest does not say.
pub const NOTES: &str = "programs.toml";

/// The environment variable that names the folder with a model's compiled programs.
pub const DEPLOYMENT_VAR: &str = "NPUGATE_DEPLOYMENT";

/// A folder with compiled programs, whose lists have been read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deployment {
    folder: PathBuf,
    entries: BTreeMap<String, Entry>,
    notes: BTreeMap<String, Note>,
}

/// One compiled program, whose files have been found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deployed {
    /// The program's name.
    pub program: String,
    /// The manifest's entry.
    pub entry: String,
    /// The files.
    pub binary: Binary,
    /// The name of the kernel in the files, from the manifest.
    pub kernel: Option<String>,
    /// The instance of an ELF's kernel, if a note names it.
    pub instance: Option<String>,
    /// The number of buffers that the kernel takes, if the manifest has it.
    pub arg_count: Option<usize>,
    /// The buffers that the kernel takes, in its order, if a note lists them.
    pub args: Option<Vec<ArgNote>>,
}

/// The files of a compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Binary {
    /// A full ELF.
    Elf(PathBuf),
    /// An xclbin with the instructions that its kernel runs.
    Xclbin {
        /// The configuration.
        xclbin: PathBuf,
        /// The instructions.
        instructions: PathBuf,
        /// The unit in which their number is passed to the kernel.
        unit: InstructionUnit,
    },
}

impl Deployment {
    /// Reads the lists of a folder. The binaries are not opened until they are needed.
    ///
    /// # Errors
    /// If a list is missing or malformed; each error names the file and the entry.
    pub fn open(folder: &Path) -> Result<Self, DeploymentError> {
        let entries = manifest::read(&folder.join(MANIFEST))?;
        let notes = notes::read(&folder.join(NOTES))?;
        for (program, note) in &notes {
            let entry = note.entry.as_ref().unwrap_or(program);
            if !entries.contains_key(entry) {
                return Err(DeploymentError::NoteWithoutEntry {
                    path: folder.join(NOTES),
                    program: program.clone(),
                    entry: entry.clone(),
                });
            }
        }
        Ok(Self { folder: folder.to_owned(), entries, notes })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The names of the programs in the deployment.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        // An entry to which a note gives another name has only that name.
        let renamed = |entry: &&String| {
            let mut notes = self.notes.values();
            notes.any(|note| note.entry.as_ref() == Some(*entry))
        };
        let plain = self.entries.keys().filter(move |entry| !renamed(entry));
        let noted = self.notes.keys().filter(|program| !self.entries.contains_key(*program));
        plain.chain(noted).map(String::as_str)
    }

    /// Finds the files of the compiled program `name`.
    ///
    /// # Errors
    /// If it is not in the deployment, or a file of it is missing or of an unknown kind.
    pub fn program(&self, name: &str) -> Result<Deployed, DeploymentError> {
        let note = self.notes.get(name).cloned().unwrap_or_default();
        let entry_name = note.entry.clone().unwrap_or_else(|| name.to_owned());
        let entry = self.entries.get(&entry_name).ok_or_else(|| DeploymentError::NotDeployed {
            path: self.folder.join(MANIFEST),
            program: name.to_owned(),
            known: self.programs().map(str::to_owned).collect(),
        })?;
        Ok(Deployed {
            program: name.to_owned(),
            binary: self.binary(&entry_name, entry, note.ninstr.into())?,
            entry: entry_name,
            kernel: entry.kernel.clone(),
            instance: note.instance,
            arg_count: entry.n_args,
            args: note.args,
        })
    }

    fn binary(
        &self,
        name: &str,
        entry: &Entry,
        unit: InstructionUnit,
    ) -> Result<Binary, DeploymentError> {
        let binary = self.find(name, "output_binary", &entry.output_binary)?;
        match (kind(&binary)?, &entry.insts) {
            (Kind::Elf, _) => Ok(Binary::Elf(binary)),
            (Kind::Xclbin, Some(instructions)) => Ok(Binary::Xclbin {
                xclbin: binary,
                instructions: self.find(name, "insts", instructions)?,
                unit,
            }),
            (Kind::Xclbin, None) => Err(DeploymentError::NoInstructions {
                path: self.folder.join(MANIFEST),
                entry: name.to_owned(),
                binary,
            }),
            (Kind::Other, _) => Err(DeploymentError::UnknownBinary {
                path: self.folder.join(MANIFEST),
                entry: name.to_owned(),
                binary,
            }),
        }
    }

    /// Finds a file of an entry. MLIR-AIR writes the paths of the machine and folder in which it
    /// ran: in a cache that was moved, the file is beside the manifest.
    fn find(
        &self,
        entry: &str,
        key: &'static str,
        file: &Path,
    ) -> Result<PathBuf, DeploymentError> {
        let beside = self.folder.join(file.file_name().unwrap_or_default());
        let candidates = [self.folder.join(file), beside];
        candidates.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
            DeploymentError::NoFile {
                path: self.folder.join(MANIFEST),
                entry: entry.to_owned(),
                key,
                file: file.to_owned(),
            }
        })
    }
}

/// The kind of a binary, by its first bytes.
enum Kind {
    Elf,
    Xclbin,
    Other,
}

fn kind(path: &Path) -> Result<Kind, DeploymentError> {
    let unreadable = |source| DeploymentError::Unreadable { path: path.to_owned(), source };
    let mut magic = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(8).read_to_end(&mut magic).map_err(unreadable)?;
    Ok(match magic.as_slice() {
        [0x7f, b'E', b'L', b'F', ..] => Kind::Elf,
        [b'x', b'c', b'l', b'b', b'i', b'n', b'2', ..] => Kind::Xclbin,
        _ => Kind::Other,
    })
}

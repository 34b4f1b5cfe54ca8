//! What can be wrong with a deployment. Each error names the file and the entry.

use std::{io, path::PathBuf};

use super::{MANIFEST, NOTES};

/// Why a deployment cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeploymentError {
    /// There is no manifest.
    #[error(
        "{} does not exist; name the folder of MLIR-AIR's kernel cache, which has a {MANIFEST}",
        .path.display()
    )]
    NoManifest {
        /// Where it was expected.
        path: PathBuf,
    },
    /// A file that cannot be read.
    #[error("{} cannot be read: {source}; check its permissions", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The manifest is not JSON, or does not have the form that MLIR-AIR writes.
    #[error("{} is not the manifest of a kernel cache: {message}; build the deployment again", .path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// An entry of the manifest does not have the form that MLIR-AIR writes.
    #[error(
        "{}, entry `{entry}`: {message}; an entry has `output_binary`, `kernel` and `insts`",
        .path.display()
    )]
    Entry {
        /// The manifest.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// What is wrong.
        message: String,
    },
    /// `programs.toml` is malformed.
    #[error("{}: {message}; a program has `entry`, `instance`, `ninstr` and `args`", .path.display())]
    Notes {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// `programs.toml` has a program that was not compiled.
    #[error(
        "{}, program `{program}`: {MANIFEST} has no entry `{entry}`; correct `entry`, or compile it",
        .path.display()
    )]
    NoteWithoutEntry {
        /// The file.
        path: PathBuf,
        /// The program.
        program: String,
        /// The entry that it names.
        entry: String,
    },
    /// A program that the deployment does not have.
    #[error(
        "{} has no entry for program `{program}`, it has {}; compile it, or set its `entry` in {NOTES}",
        .path.display(), list(.known)
    )]
    NotDeployed {
        /// The manifest.
        path: PathBuf,
        /// The program.
        program: String,
        /// The programs in the deployment.
        known: Vec<String>,
    },
    /// A file that an entry names is neither at its path nor beside the manifest.
    #[error(
        "{}, entry `{entry}`: the file of `{key}` is neither at {} nor beside {MANIFEST}; build the \
         deployment again, or copy all of it",
        .path.display(), .file.display()
    )]
    NoFile {
        /// The manifest.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// The key that names the file.
        key: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// An xclbin without instructions.
    #[error(
        "{}, entry `{entry}`: {} is an xclbin, but `insts` names no instructions for its kernel; \
         build the deployment again",
        .path.display(), .binary.display()
    )]
    NoInstructions {
        /// The manifest.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// The xclbin.
        binary: PathBuf,
    },
    /// A binary that is neither an ELF nor an xclbin.
    #[error(
        "{}, entry `{entry}`: {} is neither an ELF nor an xclbin, by its first bytes; build the \
         deployment again",
        .path.display(), .binary.display()
    )]
    UnknownBinary {
        /// The manifest.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// The file.
        binary: PathBuf,
    },
}

/// Names as text.
fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

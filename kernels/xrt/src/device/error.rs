//! A compiled program that does not match the program or the device.

use std::path::PathBuf;

use npugate_kernels::Role;

use crate::{Generation, Platform, UnknownGeneration, deployment::NOTES};

/// A compiled program that does not match the program or the device. This is found before it runs:
/// the device would load it without an error, and compute nothing or read past its buffers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MismatchError {
    /// The device's generation is unknown.
    #[error(transparent)]
    Generation(#[from] UnknownGeneration),
    /// Built for another generation of NPUs.
    #[error(
        "{} is built for {found} and the device is {device}, where it would load but compute \
         nothing; build it for this device",
        .path.display()
    )]
    Platform {
        /// The binary.
        path: PathBuf,
        /// The platform that it is built for.
        found: Platform,
        /// The generation of the device.
        device: &'static str,
    },
    /// Takes more columns than the device has.
    #[error(
        "{} takes {found} columns, but the device has {columns}; build it for this device",
        .path.display()
    )]
    Columns {
        /// The binary.
        path: PathBuf,
        /// Columns that it takes.
        found: u32,
        /// Columns of the device.
        columns: u32,
    },
    /// Takes another number of buffers.
    #[error(
        "program `{program}` has {expected} buffers, but {source_of_count} says {found}; build the \
         program with these settings, or list the binary's `args` in {NOTES}"
    )]
    ArgCount {
        /// The program.
        program: String,
        /// Buffers of the program, with the scratch memory in the notes.
        expected: usize,
        /// Buffers of the binary.
        found: usize,
        /// What gives that number: the manifest, or the binary itself.
        source_of_count: &'static str,
    },
    /// The notes leave an argument of the program out.
    #[error(
        "program `{program}`: the `args` in {NOTES} leave out `{arg}`; list it at its position"
    )]
    ArgMissing {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
    },
    /// The notes list an argument twice.
    #[error("program `{program}`: the `args` in {NOTES} list `{arg}` twice; list it once")]
    ArgTwice {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
    },
    /// The notes list an argument that the program does not have.
    #[error(
        "program `{program}`: `{arg}` in {NOTES} is {role:?}, but the program has no argument of \
         that name; correct the name, or give scratch memory of the binary the role `intermediate`"
    )]
    ArgUnknown {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
        /// Its role in the notes.
        role: Role,
    },
    /// The notes give an argument another role.
    #[error(
        "program `{program}`: `{arg}` is {expected:?}, but {NOTES} says {found:?}; correct the note, \
         or use the binary of this program"
    )]
    ArgRole {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
        /// Its role in the program.
        expected: Role,
        /// Its role in the notes.
        found: Role,
    },
    /// The notes give an argument another size.
    #[error(
        "program `{program}`: `{arg}` has {expected} bytes, but {NOTES} says {found}; build the \
         binary with these settings (`seq_len`, for one), or correct the note"
    )]
    ArgBytes {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
        /// Bytes in the program.
        expected: usize,
        /// Bytes in the notes.
        found: usize,
    },
    /// No kernel can be chosen.
    #[error(
        "{}: cannot choose a kernel from {kernels}{wanted}; set the `instance` of program \
         `{program}` in {NOTES}",
        .path.display()
    )]
    Kernel {
        /// The binary.
        path: PathBuf,
        /// The program.
        program: String,
        /// Its kernels, as a list.
        kernels: String,
        /// The instance or kernel that was wanted.
        wanted: String,
    },
}

impl MismatchError {
    /// A generation as text.
    pub(super) fn words(generation: Generation) -> &'static str {
        match generation {
            Generation::Npu1 => "npu1 (AIE2)",
            Generation::Npu2 => "npu2 (aie2p)",
        }
    }
}

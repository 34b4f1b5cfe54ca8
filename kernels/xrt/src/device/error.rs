//! A compiled program that is not the one that it is loaded for.

use std::path::PathBuf;

use npugate_kernels::Role;

use crate::{Generation, Platform, UnknownGeneration, deployment::NOTES};

/// A compiled program that does not fit the program or the device. Found before it runs: the device
/// would load it without an error, and compute nothing or read past its buffers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MismatchError {
    /// The device is of no generation that programs are built for.
    #[error(transparent)]
    Generation(#[from] UnknownGeneration),
    /// Built for another generation of NPUs.
    #[error(
        "{} is built for {found} and the device is {device}, on which it would load and compute \
         nothing; build it for this device",
        .path.display()
    )]
    Platform {
        /// The binary.
        path: PathBuf,
        /// What it is built for.
        found: Platform,
        /// What the device is.
        device: &'static str,
    },
    /// Takes more columns than the device has.
    #[error(
        "{} takes {found} columns and the device has {columns}; build it for this device",
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
        "program `{program}` has {expected} buffers and {source_of_count} says {found}; build the \
         program of these settings, or list the binary's `args` in {NOTES}"
    )]
    ArgCount {
        /// The program.
        program: String,
        /// Buffers of the program, and scratch memory that is noted.
        expected: usize,
        /// Buffers of the binary.
        found: usize,
        /// Who says so: the manifest, or the binary itself.
        source_of_count: &'static str,
    },
    /// The notes leave an argument of the program out.
    #[error(
        "program `{program}`: the `args` in {NOTES} leave `{arg}` out; list it at its position"
    )]
    ArgMissing {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
    },
    /// The notes have an argument twice.
    #[error("program `{program}`: the `args` in {NOTES} have `{arg}` twice; list each once")]
    ArgTwice {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
    },
    /// The notes have an argument that the program has not.
    #[error(
        "program `{program}`: `{arg}` in {NOTES} is {role:?}, and the program has no argument of \
         that name; only scratch memory (`intermediate`) may be the binary's own"
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
        "program `{program}`: `{arg}` is {expected:?} and {NOTES} says {found:?}; the binary is of \
         another program, or the note is wrong"
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
        "program `{program}`: `{arg}` has {expected} bytes and {NOTES} says {found}; the binary is \
         built for other settings, such as another `seq_len`"
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
        "{}: no kernel can be chosen of {kernels}{wanted}; name the `instance` of program \
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
        /// What was looked for.
        wanted: String,
    },
}

impl MismatchError {
    /// The words for a generation.
    pub(super) fn words(generation: Generation) -> &'static str {
        match generation {
            Generation::Npu1 => "npu1 (AIE2)",
            Generation::Npu2 => "npu2 (aie2p)",
        }
    }
}

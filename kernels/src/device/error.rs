//! What can go wrong between host and device.

use super::{BufferSet, RunFailure};
use crate::{DType, OpError, ProgramError, Role};

/// A misuse of a device, or a failure of the device. Each message says what went wrong, where, and
/// what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A malformed program.
    #[error(transparent)]
    Program(Box<ProgramError>),
    /// The inputs of a launch do not match its op.
    #[error(transparent)]
    Op(Box<OpError>),
    /// An id that this device did not give out.
    #[error(
        "program id {index} is unknown to this device; use the id that its own `load` returned"
    )]
    UnknownProgram {
        /// The id.
        index: usize,
    },
    /// An argument that the program does not have.
    #[error(
        "program `{program}` has no argument at index {index}, only {count} arguments; look the \
         index up with `Program::arg`"
    )]
    UnknownArg {
        /// Program name.
        program: String,
        /// The index.
        index: usize,
        /// Number of arguments.
        count: usize,
    },
    /// A tensor of another type than the buffer.
    #[error(
        "program `{program}`, set {set}: `{arg}` is {expected} but the tensor is {found}; convert \
         the tensor",
        set = set.0
    )]
    WrongDType {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// Type of the buffer.
        expected: DType,
        /// Type of the tensor.
        found: DType,
    },
    /// A tensor of another shape than the buffer.
    #[error(
        "program `{program}`, set {set}: `{arg}` has shape {expected:?} but the tensor has shape \
         {found:?}; pad or transpose the tensor",
        set = set.0
    )]
    WrongShape {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// Shape of the buffer.
        expected: Vec<usize>,
        /// Shape of the tensor.
        found: Vec<usize>,
    },
    /// A static buffer written a second time.
    #[error(
        "program `{program}`, set {set}: the static buffer `{arg}` has already been written; a \
         static buffer is written once, so give each layer a buffer set of its own, or make the \
         argument an Input",
        set = set.0
    )]
    StaticRewritten {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
    },
    /// The host writes what only launches may write.
    #[error(
        "program `{program}`, set {set}: `{arg}` is {role:?}, which only launches write; do not \
         write it from the host, or make it an Input",
        set = set.0
    )]
    NotForHost {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// Its role.
        role: Role,
    },
    /// A run with a static buffer that was never written.
    #[error(
        "program `{program}`, set {set}: the static buffer `{arg}` was never written; write it \
         before the first run of this set",
        set = set.0
    )]
    StaticUnwritten {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
    },
    /// A run with an input that was never written.
    #[error(
        "program `{program}`, set {set}: the input `{arg}` was never written; write it before the run",
        set = set.0
    )]
    InputUnwritten {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
    },
    /// A run with an input left over from an earlier run.
    #[error(
        "program `{program}`, set {set}: the input `{arg}` is stale because an earlier run has \
         used it; write every input before each run, or make it Static",
        set = set.0
    )]
    StaleInput {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
    },
    /// A run with an input that was written for another set.
    #[error(
        "program `{program}`, set {set}: the input `{arg}` was written for set {written}; write it \
         for the set that is run next",
        set = set.0, written = written.0
    )]
    InputOfOtherSet {
        /// Program name.
        program: String,
        /// Buffer set that is run.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// Buffer set it was written for.
        written: BufferSet,
    },
    /// A launch reads a buffer that nothing wrote in this run.
    #[error(
        "program `{program}`, set {set}, launch {launch} ({kernel}) reads `{arg}`, which nothing \
         wrote in this run; reorder the launches",
        set = set.0
    )]
    UnwrittenRead {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// Argument name.
        arg: String,
    },
    /// A read of a program that has not run, or whose last run failed.
    #[error(
        "program `{program}`, set {set}: `{arg}` cannot be read because no run has completed; run \
         the program first",
        set = set.0
    )]
    NotRun {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
    },
    /// A read for another set than the last run was for.
    #[error(
        "program `{program}`, set {set}: `{arg}` holds the result of the last run, which was for \
         set {last}; read outputs before the next run",
        set = set.0, last = last.0
    )]
    ResultOfOtherSet {
        /// Program name.
        program: String,
        /// Buffer set that was asked for.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// Buffer set of the last run.
        last: BufferSet,
    },
    /// A read of a result that is older than the inputs.
    #[error(
        "program `{program}`, set {set}: `{arg}` still holds the result of an earlier run, but \
         `{input}` has been written since; run the program before reading, and read before writing \
         the next inputs",
        set = set.0
    )]
    StaleResult {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// The input that has been written since the run.
        input: String,
    },
    /// A read of a buffer that no launch of the last run wrote.
    #[error(
        "program `{program}`, set {set}: no launch of the last run wrote `{arg}`; read a buffer \
         that the program writes",
        set = set.0
    )]
    ResultUnwritten {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
    },
    /// A read of what the host itself wrote.
    #[error(
        "program `{program}`, set {set}: `{arg}` is {role:?}, which the host itself writes; only \
         outputs and intermediates can be read back",
        set = set.0
    )]
    NotReadable {
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// Argument name.
        arg: String,
        /// Its role.
        role: Role,
    },
    /// A run that did not complete; nothing can be read, and the device accepts no more work.
    #[error("device `{device}`, program `{program}`, set {set}: {failure}: {message}", set = set.0)]
    RunFailed {
        /// Device name.
        device: String,
        /// Program name.
        program: String,
        /// Buffer set.
        set: BufferSet,
        /// How it failed.
        failure: RunFailure,
        /// What to do.
        message: String,
        /// The cause, where there is one.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Work for a device on which a run has failed before.
    #[error(
        "device `{device}` accepts no more work in this process because a run of \
         `{program}` failed ({failure}); end the process and start another"
    )]
    Unusable {
        /// Device name.
        device: String,
        /// The program whose run failed.
        program: String,
        /// How it failed.
        failure: RunFailure,
    },
    /// What a device needs is not there: its driver, its library, a compiled program.
    #[error("device `{device}`: {message}")]
    Unprepared {
        /// Device name.
        device: String,
        /// What is missing, and what to do.
        message: String,
        /// The cause, where there is one.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The device itself failed.
    #[error("device `{device}`: {message}")]
    Backend {
        /// Device name.
        device: String,
        /// What happened, and what to do.
        message: String,
        /// The cause, where there is one.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl DeviceError {
    /// Whether this process can no longer use the device and should end.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::RunFailed { .. } | Self::Unusable { .. })
    }
}

impl From<ProgramError> for DeviceError {
    fn from(error: ProgramError) -> Self {
        Self::Program(Box::new(error))
    }
}

impl From<OpError> for DeviceError {
    fn from(error: OpError) -> Self {
        Self::Op(Box::new(error))
    }
}

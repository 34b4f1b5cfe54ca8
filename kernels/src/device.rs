//! What runs programs: the emulated NPU, the hardware over XRT, or a double in a test.

mod error;
mod failure;
mod rules;

use std::time::Duration;

pub use error::DeviceError;
pub use failure::RunFailure;
pub use rules::BufferRules;

use crate::{ArgIndex, Program, Tensor};

/// What a device is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// Short name, as in `--device` and in the names of baselines: `emu`, `xrt`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// What does the arithmetic: `avx512bf16`, `avx2`, `neon`, `scalar`; `npu2` on hardware.
    pub vector_unit: String,
}

/// Which set of static buffers a dispatch uses: one per layer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct BufferSet(pub u32);

/// A loaded program. Valid only on the device that returned it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ProgramId(usize);

impl ProgramId {
    /// For implementors of [`Device`]: the id of the `index`th program they loaded.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// For implementors of [`Device`]: the index that [`ProgramId::new`] was given.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// How long a dispatch took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dispatch {
    /// From submission to completion.
    pub run: Duration,
    /// Each launch of the program, in order; empty if the device cannot measure them.
    pub launches: Vec<Duration>,
}

/// What a device has done since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Programs run.
    pub dispatches: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Bytes read by the host.
    pub bytes_read: u64,
    /// Time spent in writes.
    pub write: Duration,
    /// Time spent in runs.
    pub run: Duration,
    /// Time spent in reads.
    pub read: Duration,
}

/// Runs programs.
///
/// The host writes each [`Static`](crate::Role::Static) once per buffer set, each
/// [`Input`](crate::Role::Input) before every run, runs, and reads the
/// [`Output`](crate::Role::Output)s. Inputs, intermediates and outputs may be one buffer for all
/// sets of a program, so an output is read before the next run is prepared, and an input is written
/// for the set that is run next. [`BufferRules`] enforces this.
pub trait Device: Send {
    /// What this device is.
    fn info(&self) -> DeviceInfo;

    /// Makes `program` ready to run.
    ///
    /// # Errors
    /// If the program is malformed ([`Program::check`]) or the device has no such program.
    fn load(&mut self, program: &Program) -> Result<ProgramId, DeviceError>;

    /// Writes an input or a static buffer.
    ///
    /// # Errors
    /// If the program or argument is unknown, the tensor's type or shape is not the argument's, a
    /// static buffer is written twice, or the host may not write the argument.
    fn write(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError>;

    /// Runs a program with the static buffers of `set`.
    ///
    /// # Errors
    /// If the program is unknown, an input has not been written for this run, or a static buffer of
    /// the set has never been written.
    fn run(&mut self, program: ProgramId, set: BufferSet) -> Result<Dispatch, DeviceError>;

    /// Reads an output of the last run, or an intermediate as a probe.
    ///
    /// # Errors
    /// If the program or argument is unknown, nothing has been run, the last run was for another
    /// set, an input has been written since, or the host itself writes the argument.
    fn read(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
    ) -> Result<Tensor, DeviceError>;

    /// What this device has done since it was opened.
    fn counters(&self) -> Counters;
}

//! The emulated NPU: the arithmetic of AIE2P on a CPU, and a sanitizer for buffers.

mod functions;
mod options;
mod vector;

pub use functions::{Bf16Table, Exp2, Functions, TableError, Tanh};
pub use options::{EmulatorOptions, Substitution, SubstitutionError};
pub use vector::{VectorUnit, VectorUnitError};

use crate::{
    ArgIndex, BufferSet, Counters, Device, DeviceError, DeviceInfo, Dispatch, Program, ProgramId,
    Tensor,
};

/// The emulated NPU.
pub struct Emulator {
    unit: VectorUnit,
}

impl Emulator {
    /// An emulated NPU without any program.
    pub fn new(options: EmulatorOptions) -> Self {
        Self { unit: options.vector_unit.unwrap_or_else(VectorUnit::detect) }
    }
}

fn unfinished() -> DeviceError {
    DeviceError::Backend { device: "emu".into(), message: "not there yet".into(), source: None }
}

impl Device for Emulator {
    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: "emu".into(),
            description: "emulated NPU2".into(),
            vector_unit: self.unit.name().into(),
        }
    }

    fn load(&mut self, program: &Program) -> Result<ProgramId, DeviceError> {
        program.check()?;
        Err(unfinished())
    }

    fn write(
        &mut self,
        _: ProgramId,
        _: BufferSet,
        _: ArgIndex,
        _: Tensor,
    ) -> Result<(), DeviceError> {
        Err(unfinished())
    }

    fn run(&mut self, _: ProgramId, _: BufferSet) -> Result<Dispatch, DeviceError> {
        Err(unfinished())
    }

    fn read(&mut self, _: ProgramId, _: BufferSet, _: ArgIndex) -> Result<Tensor, DeviceError> {
        Err(unfinished())
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}

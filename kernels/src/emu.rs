//! The emulated NPU: the arithmetic of AIE2P on a CPU, and a sanitizer for buffers.

mod buffer;
mod loaded;
mod options;
mod step;

use std::time::Instant;

use loaded::Loaded;
pub use options::{EmulatorOptions, Substitution, SubstitutionError};

use crate::{
    datapath::{Scratch, Tables, vector::VectorUnit},
    device::{BufferSet, Counters, Device, DeviceError, DeviceInfo, Dispatch, ProgramId},
    program::{ArgIndex, Program},
    tensor::Tensor,
};

/// The emulated NPU.
///
/// # Arithmetic
/// Each launch follows the silicon's datapath for its kernel and the rounding mode in the launch,
/// as far as it is known: see [`Functions`](crate::Functions) for what is derived and what is fitted. A launch's
/// result does not depend on the number of threads, nor on the vector unit.
///
/// # Buffers
/// Before each run every intermediate and output is filled with NaN and marked unwritten. Mistakes
/// that hardware does not report are errors here: a static buffer written twice (as when two layers
/// share a set), an input that was not written for this run, a launch that reads what nothing
/// wrote, a read of a result that no longer exists.
pub struct Emulator {
    options: EmulatorOptions,
    unit: VectorUnit,
    programs: Vec<Loaded>,
    tables: Tables,
    scratch: Scratch,
    counters: Counters,
}

impl Emulator {
    /// An emulated NPU without any program.
    pub fn new(options: EmulatorOptions) -> Self {
        let unit = options.vector_unit.unwrap_or_else(VectorUnit::detect);
        Self {
            options,
            unit,
            programs: Vec::new(),
            tables: Tables::default(),
            scratch: Scratch::default(),
            counters: Counters::default(),
        }
    }
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new(EmulatorOptions::default())
    }
}

fn loaded(programs: &mut [Loaded], id: ProgramId) -> Result<&mut Loaded, DeviceError> {
    let index = id.index();
    programs.get_mut(index).ok_or(DeviceError::UnknownProgram { index })
}

impl Device for Emulator {
    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: "emu".into(),
            description: "emulated NPU2 (AIE2P arithmetic)".into(),
            vector_unit: self.unit.name().into(),
        }
    }

    fn load(&mut self, program: &Program) -> Result<ProgramId, DeviceError> {
        program.check()?;
        self.programs.push(Loaded::new(program, &self.options, &mut self.tables));
        Ok(ProgramId::new(self.programs.len() - 1))
    }

    fn write(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError> {
        let start = Instant::now();
        let bytes = tensor.bytes() as u64;
        loaded(&mut self.programs, program)?.write(self.unit, set, arg, tensor)?;
        self.counters.bytes_written += bytes;
        self.counters.write += start.elapsed();
        Ok(())
    }

    fn run(&mut self, program: ProgramId, set: BufferSet) -> Result<Dispatch, DeviceError> {
        let start = Instant::now();
        let program = loaded(&mut self.programs, program)?;
        let launches = program.run(self.unit, set, &mut self.scratch)?;
        let run = start.elapsed();
        self.counters.dispatches += 1;
        self.counters.run += run;
        Ok(Dispatch { run, launches })
    }

    fn read(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
    ) -> Result<Tensor, DeviceError> {
        let start = Instant::now();
        let tensor = loaded(&mut self.programs, program)?.read(set, arg)?;
        self.counters.bytes_read += tensor.bytes() as u64;
        self.counters.read += start.elapsed();
        Ok(tensor)
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

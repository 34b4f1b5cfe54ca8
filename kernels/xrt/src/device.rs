//! The NPU as a [`Device`](npugate_kernels::Device): compiled programs of a deployment, run by XRT.

mod bytes;
mod check;
mod error;
mod failure;
mod loaded;
mod options;

use std::{collections::BTreeMap, fs, path::Path, time::Instant};

use npugate_kernels::{
    ArgIndex, BufferSet, Counters, DeviceError, DeviceInfo, Dispatch, Program as KernelProgram,
    ProgramId, RunFailure, Tensor,
};

pub use error::MismatchError;
use loaded::{Found, Loaded};
pub use options::{DEADLINE_VAR, InvalidDeadline, RunDeadline, XrtOptions};

use crate::{
    Deadline, Device, Generation, Instructions, Kernel, Library, Program,
    deployment::{Binary, Deployed, Deployment},
    presence::Nature,
};

/// An NPU that runs the compiled programs of a deployment.
///
/// A program is checked before its first run: the binary must take as many buffers of the same
/// sizes, and must be built for this device. The rules of
/// [`BufferRules`](npugate_kernels::BufferRules) apply as on the emulated NPU. A run succeeds only
/// if the device reports that it completed. After any other run the state of the device is unknown,
/// so it takes no further work: end the process.
pub struct XrtDevice {
    library: Library,
    device: Device,
    generation: Generation,
    nature: Nature,
    deployment: Deployment,
    options: XrtOptions,
    /// By the manifest's entry: a binary that is loaded twice occupies its columns once.
    kernels: BTreeMap<String, Kernel>,
    programs: Vec<Loaded>,
    counters: Counters,
    lost: Option<Lost>,
}

/// The failed run after which the device takes no further work.
#[derive(Clone, Debug)]
struct Lost {
    program: String,
    failure: RunFailure,
}

impl XrtDevice {
    /// Opens a device to run the programs of `deployment`.
    ///
    /// # Errors
    /// If the device cannot be opened, or its generation is unknown.
    pub fn open(
        library: &Library,
        deployment: Deployment,
        options: XrtOptions,
    ) -> Result<Self, DeviceError> {
        let name = Nature::Hardware.device_name();
        let device =
            library.device(options.index).map_err(|error| failure::of_call(name, error))?;
        let nature = Nature::of_name(device.name());
        let generation = device
            .generation()
            .map_err(|error| failure::of_mismatch(nature.device_name(), error.into()))?;
        Ok(Self {
            library: library.clone(),
            device,
            generation,
            nature,
            deployment,
            options,
            kernels: BTreeMap::new(),
            programs: Vec::new(),
            counters: Counters::default(),
            lost: None,
        })
    }

    /// Whether the device is hardware.
    pub fn nature(&self) -> Nature {
        self.nature
    }

    fn name(&self) -> &'static str {
        self.nature.device_name()
    }

    /// Refuses work after a run that failed.
    fn check_usable(&self) -> Result<(), DeviceError> {
        match &self.lost {
            None => Ok(()),
            Some(Lost { program, failure }) => Err(DeviceError::Unusable {
                device: self.name().to_owned(),
                program: program.clone(),
                failure: *failure,
            }),
        }
    }

    /// The kernel of a compiled program, in a context on the device. The binary is checked before
    /// the context is made.
    fn kernel(&mut self, deployed: &Deployed) -> Result<Kernel, DeviceError> {
        if let Some(kernel) = self.kernels.get(&deployed.entry) {
            return Ok(kernel.clone());
        }
        let name = self.name();
        let call = |error| failure::of_call(name, error);
        let mismatch = |error| failure::of_mismatch(name, error);
        let (program, kernel) = match &deployed.binary {
            Binary::Elf(path) => {
                let elf = self.library.elf(path).map_err(call)?;
                check::elf(&elf, self.generation).map_err(mismatch)?;
                let kernel = check::elf_kernel(deployed, &elf).map_err(mismatch)?;
                (Program::Elf(elf), kernel)
            }
            Binary::Xclbin { xclbin, instructions, unit } => {
                let xclbin = self.library.xclbin(xclbin).map_err(call)?;
                let kernel = check::xclbin_kernel(deployed, &xclbin).map_err(mismatch)?;
                let bytes = read(instructions).map_err(call)?;
                let instructions = Instructions { bytes, unit: *unit };
                (Program::Xclbin { xclbin, instructions }, kernel)
            }
        };
        let context = self.device.context(&program).map_err(call)?;
        let kernel = context.kernel(&kernel).map_err(call)?;
        self.kernels.insert(deployed.entry.clone(), kernel.clone());
        Ok(kernel)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, crate::Error> {
    fs::read(path).map_err(|source| crate::Error::Unreadable { path: path.to_owned(), source })
}

fn loaded(programs: &mut [Loaded], id: ProgramId) -> Result<&mut Loaded, DeviceError> {
    let index = id.index();
    programs.get_mut(index).ok_or(DeviceError::UnknownProgram { index })
}

impl npugate_kernels::Device for XrtDevice {
    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: self.name().to_owned(),
            description: format!(
                "{} at {}, XRT {}, deployment {}",
                self.device.name(),
                self.device.bdf(),
                self.library.version(),
                self.deployment.folder().display()
            ),
            vector_unit: match self.generation {
                Generation::Npu1 => "npu1".to_owned(),
                Generation::Npu2 => "npu2".to_owned(),
            },
        }
    }

    fn load(&mut self, program: &KernelProgram) -> Result<ProgramId, DeviceError> {
        self.check_usable()?;
        program.check()?;
        let name = self.name();
        let deployed = self
            .deployment
            .program(&program.name)
            .map_err(|error| failure::of_deployment(name, error))?;
        let mismatch = |error| failure::of_mismatch(name, error);
        let positions = check::positions(program, &deployed).map_err(mismatch)?;
        let kernel = self.kernel(&deployed)?;
        check::arg_count(program, positions.len(), kernel.buffers()).map_err(mismatch)?;
        let loaded = Loaded::new(program, kernel, positions)
            .map_err(|error| failure::of_call(name, error))?;
        self.programs.push(loaded);
        Ok(ProgramId::new(self.programs.len() - 1))
    }

    fn write(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError> {
        self.check_usable()?;
        let (start, name) = (Instant::now(), self.name());
        let program = loaded(&mut self.programs, program)?;
        program.rules.check_write(set, arg, &tensor)?;
        let written = program.write(set, arg, &bytes::of(&tensor));
        written.map_err(|error| failure::of_call(name, error))?;
        self.counters.bytes_written += tensor.bytes() as u64;
        self.counters.write += start.elapsed();
        Ok(())
    }

    fn run(&mut self, program: ProgramId, set: BufferSet) -> Result<Dispatch, DeviceError> {
        self.check_usable()?;
        let (name, deadline) = (self.name(), Deadline::After(self.options.deadline.duration()));
        let program = loaded(&mut self.programs, program)?;
        program.rules.check_run(set)?;
        match program.run(set, deadline) {
            Ok(run) => {
                self.counters.dispatches += 1;
                self.counters.run += run;
                Ok(Dispatch { run, launches: Vec::new() })
            }
            Err(error) => {
                let (failure, program) =
                    (failure::of_run(&error, deadline), program.rules.program().to_owned());
                let failed = failure::run_failed(name, &program, set, failure, error);
                self.lost = Some(Lost { program, failure });
                Err(failed)
            }
        }
    }

    fn read(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
    ) -> Result<Tensor, DeviceError> {
        self.check_usable()?;
        let (start, name) = (Instant::now(), self.name());
        let program = loaded(&mut self.programs, program)?;
        let declared = program.rules.check_read(set, arg)?.clone();
        let read = program.read(arg, &declared).map_err(|error| failure::of_call(name, error))?;
        let Found::Bytes(read) = read else {
            return Err(DeviceError::Backend {
                device: name.to_owned(),
                message: format!(
                    "program `{}`: the run completed, but wrote nothing to `{}`; the binary belongs \
                     to another program, is not for this NPU, or takes its arguments in another \
                     order: list its `args` in {}",
                    program.rules.program(),
                    declared.name,
                    crate::deployment::NOTES
                ),
                source: None,
            });
        };
        let tensor =
            bytes::tensor(&declared, &read).map_err(|error| bytes::no_tensor(name, error))?;
        self.counters.bytes_read += tensor.bytes() as u64;
        self.counters.read += start.elapsed();
        Ok(tensor)
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

//! A stage on a device, which passes buffers to its programs by name.

use super::RunnerError;
use crate::programs::Stage;
use npugate_kernels::{Arg, ArgIndex, BufferSet, Device, DeviceError, ProgramId, Role, Tensor};

/// The loaded programs of a stage.
pub(super) struct LoadedStage {
    programs: Vec<LoadedProgram>,
}

struct LoadedProgram {
    id: ProgramId,
    name: String,
    args: Vec<Arg>,
}

impl LoadedProgram {
    fn args(&self) -> impl Iterator<Item = (ArgIndex, &Arg)> {
        self.args.iter().enumerate().map(|(index, arg)| (ArgIndex(index), arg))
    }

    fn no_value(&self, arg: &Arg) -> RunnerError {
        RunnerError::NoValue { program: self.name.clone(), arg: arg.name.clone() }
    }
}

/// The buffers that the host has during a stage, by name.
pub(super) struct Buffers<'a>(Vec<(&'a str, Tensor)>);

impl Buffers<'_> {
    fn get(&self, name: &str) -> Option<&Tensor> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, tensor)| tensor)
    }

    /// Takes what the stage wrote to the argument `name`.
    pub(super) fn take(&mut self, name: &'static str) -> Result<Tensor, RunnerError> {
        let index = self.0.iter().position(|(known, _)| *known == name);
        index.map(|index| self.0.swap_remove(index).1).ok_or_else(|| RunnerError::NoValue {
            program: "(host)".to_owned(),
            arg: name.to_owned(),
        })
    }
}

impl LoadedStage {
    /// Loads the programs of a stage.
    pub(super) fn load(device: &mut dyn Device, stage: &Stage) -> Result<Self, DeviceError> {
        let load = |program: &npugate_kernels::Program| {
            Ok(LoadedProgram {
                id: device.load(program)?,
                name: program.name.clone(),
                args: program.args.clone(),
            })
        };
        Ok(Self { programs: stage.iter().map(load).collect::<Result<_, DeviceError>>()? })
    }

    /// Writes the static buffers of one set. This is done once.
    pub(super) fn write_statics(
        &self,
        device: &mut dyn Device,
        set: BufferSet,
        value: impl Fn(&str) -> Option<Tensor>,
    ) -> Result<(), RunnerError> {
        for program in &self.programs {
            for (index, arg) in program.args().filter(|(_, arg)| arg.role == Role::Static) {
                let tensor = value(&arg.name).ok_or_else(|| program.no_value(arg))?;
                device.write(program.id, set, index, tensor)?;
            }
        }
        Ok(())
    }

    /// Runs the programs one after another with the static buffers of `set`.
    /// Outputs of one program are inputs of the next ones by name. Returns every
    /// output, and the intermediates named in `probes`.
    pub(super) fn run<'a>(
        &'a self,
        device: &mut dyn Device,
        set: BufferSet,
        inputs: &[(&'a str, &Tensor)],
        probes: &[&str],
    ) -> Result<Buffers<'a>, RunnerError> {
        let inputs = inputs.iter().map(|(name, tensor)| (*name, (*tensor).clone()));
        let mut buffers = Buffers(inputs.collect());
        for program in &self.programs {
            for (index, arg) in program.args().filter(|(_, arg)| arg.role == Role::Input) {
                let tensor = buffers.get(&arg.name).ok_or_else(|| program.no_value(arg))?;
                device.write(program.id, set, index, tensor.clone())?;
            }
            device.run(program.id, set)?;
            for (index, arg) in program.args() {
                let probed = arg.role == Role::Intermediate && probes.contains(&&*arg.name);
                if arg.role == Role::Output || probed {
                    buffers.0.push((&arg.name, device.read(program.id, set, index)?));
                }
            }
        }
        Ok(buffers)
    }
}

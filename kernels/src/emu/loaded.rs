//! A loaded program with its buffers, and the rules for using them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    EmulatorOptions,
    buffer::{Device, Input, Operand, Static, StaticUse},
    step::{Scratch, Step, StepError, Tables},
    vector::VectorUnit,
};
use crate::{Arg, ArgIndex, BufferSet, DeviceError, Program, Role, Tensor, program::same_memory};

/// A program and its buffers.
pub(super) struct Loaded {
    name: String,
    args: Vec<Arg>,
    steps: Vec<Step>,
    /// One for each argument.
    slots: Vec<Slot>,
    /// The static buffers of each set, by argument.
    statics: BTreeMap<BufferSet, BTreeMap<usize, Static>>,
    /// The set of the last run, if it completed.
    last: Option<BufferSet>,
}

enum Slot {
    Input(Input),
    Static(StaticUse),
    Device(Device),
}

impl Loaded {
    /// Makes a well-formed program ready to run.
    pub(super) fn new(program: &Program, options: &EmulatorOptions, tables: &mut Tables) -> Self {
        let steps: Vec<Step> = program
            .launches
            .iter()
            .enumerate()
            .map(|(i, launch)| Step::new(&program.name, i, launch, options, tables))
            .collect();
        let slot = |(index, arg): (usize, &Arg)| match arg.role {
            Role::Input => Slot::Input(Input::Unwritten),
            Role::Static => Slot::Static(usage(&steps, ArgIndex(index))),
            Role::Intermediate | Role::Output => Slot::Device(Device::new(arg)),
        };
        let slots = program.args.iter().enumerate().map(slot).collect();
        Self {
            name: program.name.clone(),
            args: program.args.clone(),
            steps,
            slots,
            statics: BTreeMap::new(),
            last: None,
        }
    }

    /// Writes an input or a static buffer.
    pub(super) fn write(
        &mut self,
        unit: VectorUnit,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError> {
        let (Some(declared), Some(slot)) = (self.args.get(arg.0), self.slots.get_mut(arg.0)) else {
            return Err(self.unknown(arg));
        };
        let (program, name) = (self.name.clone(), declared.name.clone());
        if let Slot::Device(_) = slot {
            return Err(DeviceError::NotForHost { program, set, arg: name, role: declared.role });
        }
        if tensor.dtype() != declared.dtype {
            let (expected, found) = (declared.dtype, tensor.dtype());
            return Err(DeviceError::WrongDType { program, set, arg: name, expected, found });
        }
        if !same_memory(tensor.shape(), &declared.shape) {
            let (expected, found) = (declared.shape.clone(), tensor.shape().to_vec());
            return Err(DeviceError::WrongShape { program, set, arg: name, expected, found });
        }
        match slot {
            Slot::Input(input) => *input = Input::Fresh(set, tensor),
            Slot::Static(usage) => {
                let buffers = self.statics.entry(set).or_default();
                if buffers.contains_key(&arg.0) {
                    return Err(DeviceError::StaticRewritten { program, set, arg: name });
                }
                buffers.insert(arg.0, Static::new(usage, tensor, unit));
            }
            Slot::Device(_) => {}
        }
        Ok(())
    }

    /// Runs all launches; returns how long each took.
    pub(super) fn run(
        &mut self,
        unit: VectorUnit,
        set: BufferSet,
        scratch: &mut Scratch,
    ) -> Result<Vec<Duration>, DeviceError> {
        self.check_host_buffers(set)?;
        self.last = None;
        for slot in &mut self.slots {
            if let Slot::Device(buffer) = slot {
                buffer.poison();
            }
        }
        let times = (0..self.steps.len())
            .map(|index| self.run_step(unit, set, index, scratch))
            .collect::<Result<_, _>>()?;
        for slot in &mut self.slots {
            if let Slot::Input(input) = slot {
                *input = Input::Stale;
            }
        }
        self.last = Some(set);
        Ok(times)
    }

    fn check_host_buffers(&self, set: BufferSet) -> Result<(), DeviceError> {
        for (index, (arg, slot)) in self.args.iter().zip(&self.slots).enumerate() {
            let (program, name) = (|| self.name.clone(), || arg.name.clone());
            match slot {
                Slot::Input(Input::Fresh(written, _)) if *written == set => {}
                Slot::Input(Input::Fresh(written, _)) => {
                    return Err(DeviceError::InputOfOtherSet {
                        program: program(),
                        set,
                        arg: name(),
                        written: *written,
                    });
                }
                Slot::Input(Input::Unwritten) => {
                    return Err(DeviceError::InputUnwritten {
                        program: program(),
                        set,
                        arg: name(),
                    });
                }
                Slot::Input(Input::Stale) => {
                    return Err(DeviceError::StaleInput { program: program(), set, arg: name() });
                }
                Slot::Static(_) if self.static_buffer(set, index).is_none() => {
                    return Err(DeviceError::StaticUnwritten {
                        program: program(),
                        set,
                        arg: name(),
                    });
                }
                Slot::Static(_) | Slot::Device(_) => {}
            }
        }
        Ok(())
    }

    fn run_step(
        &mut self,
        unit: VectorUnit,
        set: BufferSet,
        index: usize,
        scratch: &mut Scratch,
    ) -> Result<Duration, DeviceError> {
        let start = Instant::now();
        let step = &self.steps[index];
        let out = step.out.0;
        // Taken out while the launch runs, which therefore cannot read it.
        let Slot::Device(buffer) = &mut self.slots[out] else {
            unreachable!("`Program::check` refuses launches that write a host's buffer")
        };
        let mut values = std::mem::take(&mut buffer.values);
        buffer.written = false;
        let operands: Option<Vec<_>> =
            step.reads.iter().map(|&arg| self.operand(set, arg)).collect();
        let result = match operands {
            Some(operands) => step.run(unit, &operands, scratch, &mut values),
            None => Err(StepError::Unwritten),
        };
        let error = result.err().map(|error| self.explain(set, index, error));
        if let Slot::Device(buffer) = &mut self.slots[out] {
            *buffer = Device { values, written: error.is_none() };
        }
        error.map_or(Ok(start.elapsed()), Err)
    }

    /// What a launch reads at `arg`, if something has been written there.
    fn operand(&self, set: BufferSet, arg: ArgIndex) -> Option<Operand<'_>> {
        match &self.slots[arg.0] {
            Slot::Input(Input::Fresh(_, tensor)) => Some(Operand::Input(tensor)),
            Slot::Static(_) => self.static_buffer(set, arg.0).map(Operand::Static),
            Slot::Device(buffer) if buffer.written => {
                Some(Operand::Device(&buffer.values, &self.args[arg.0]))
            }
            Slot::Input(Input::Unwritten | Input::Stale) | Slot::Device(_) => None,
        }
    }

    fn explain(&self, set: BufferSet, launch: usize, error: StepError) -> DeviceError {
        let step = &self.steps[launch];
        let missing = step.reads.iter().find(|&&arg| self.operand(set, arg).is_none());
        let arg = missing.or(step.reads.first()).unwrap_or(&step.out);
        match error {
            StepError::Op(error) => error.into(),
            StepError::Unwritten => DeviceError::UnwrittenRead {
                program: self.name.clone(),
                set,
                launch,
                kernel: step.op.kernel(),
                arg: self.args[arg.0].name.clone(),
            },
        }
    }

    /// Reads an output or an intermediate of the last run.
    pub(super) fn read(&self, set: BufferSet, arg: ArgIndex) -> Result<Tensor, DeviceError> {
        let (Some(declared), Some(slot)) = (self.args.get(arg.0), self.slots.get(arg.0)) else {
            return Err(self.unknown(arg));
        };
        let (program, name) = (self.name.clone(), declared.name.clone());
        let Slot::Device(buffer) = slot else {
            return Err(DeviceError::NotReadable { program, set, arg: name, role: declared.role });
        };
        match self.last {
            None => Err(DeviceError::NotRun { program, set, arg: name }),
            Some(last) if last != set => {
                Err(DeviceError::ResultOfOtherSet { program, set, arg: name, last })
            }
            Some(_) if !buffer.written => {
                Err(DeviceError::ResultUnwritten { program, set, arg: name })
            }
            Some(_) => Ok(buffer.values.tensor(declared)),
        }
    }

    fn static_buffer(&self, set: BufferSet, index: usize) -> Option<&Static> {
        self.statics.get(&set)?.get(&index)
    }

    fn unknown(&self, arg: ArgIndex) -> DeviceError {
        let (program, count) = (self.name.clone(), self.args.len());
        DeviceError::UnknownArg { program, index: arg.0, count }
    }
}

/// How `steps` use the static buffer at `arg`.
fn usage(steps: &[Step], arg: ArgIndex) -> StaticUse {
    let mut usage = StaticUse::default();
    for step in steps {
        for position in (0..step.reads.len()).filter(|&position| step.reads[position] == arg) {
            match step.packs(position) {
                Some(rounding) if usage.packed.contains(&rounding) => {}
                Some(rounding) => usage.packed.push(rounding),
                None => usage.plain = true,
            }
        }
    }
    usage
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Add, DType, Launch, Op, Rounding};

    /// `Program::check` refuses such a program; the rule holds all the same.
    #[test]
    fn a_launch_that_reads_what_nothing_wrote_is_an_error() {
        let arg = |name: &str, role| Arg {
            name: name.into(),
            dtype: DType::Bf16,
            shape: vec![1, 16],
            role,
        };
        let program = Program {
            name: "unordered".into(),
            args: vec![arg("x", Role::Input), arg("t", Role::Intermediate), arg("y", Role::Output)],
            launches: vec![Launch::new(
                Op::Add(Add { rows: 1, cols: 16 }),
                [0, 1, 2].map(ArgIndex),
                Rounding::Floor,
            )],
        };
        let unit = VectorUnit::detect();
        let mut loaded = Loaded::new(&program, &EmulatorOptions::default(), &mut Tables::default());
        let x = Tensor::bf16([16], vec![half::bf16::ONE; 16]).unwrap();
        loaded.write(unit, BufferSet(0), ArgIndex(0), x).unwrap();
        let error = loaded.run(unit, BufferSet(0), &mut Scratch::default()).unwrap_err();
        assert!(
            matches!(&error, DeviceError::UnwrittenRead { launch: 0, arg, .. } if arg == "t"),
            "{error}"
        );
        let error = loaded.read(BufferSet(0), ArgIndex(2)).unwrap_err();
        assert!(matches!(error, DeviceError::NotRun { .. }), "{error}");
    }
}

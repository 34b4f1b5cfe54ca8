//! A loaded program with its buffers, and the rules for using them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    EmulatorOptions,
    buffer::{Device, Operand, Static, StaticUse},
    step::{Step, StepError},
};
use crate::{
    datapath::{Scratch, Tables, vector::VectorUnit},
    device::{BufferRules, BufferSet, DeviceError},
    program::{Arg, ArgIndex, Program, Role},
    tensor::Tensor,
};

/// A program and its buffers.
pub(super) struct Loaded {
    rules: BufferRules,
    steps: Vec<Step>,
    /// One for each argument.
    slots: Vec<Slot>,
    /// The static buffers of each set, by argument.
    statics: BTreeMap<BufferSet, BTreeMap<usize, Static>>,
}

enum Slot {
    /// What the host wrote for the next run.
    Input(Option<Tensor>),
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
            Role::Input => Slot::Input(None),
            Role::Static => Slot::Static(usage(&steps, ArgIndex(index))),
            Role::Intermediate | Role::Output => Slot::Device(Device::new(arg)),
        };
        let slots = program.args.iter().enumerate().map(slot).collect();
        Self { rules: BufferRules::new(program), steps, slots, statics: BTreeMap::new() }
    }

    /// Writes an input or a static buffer.
    pub(super) fn write(
        &mut self,
        unit: VectorUnit,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError> {
        self.rules.check_write(set, arg, &tensor)?;
        match self.slots.get_mut(arg.0) {
            Some(Slot::Input(input)) => *input = Some(tensor),
            Some(Slot::Static(usage)) => {
                let buffer = Static::new(usage, tensor, unit);
                self.statics.entry(set).or_default().insert(arg.0, buffer);
            }
            Some(Slot::Device(_)) | None => {}
        }
        self.rules.written(set, arg);
        Ok(())
    }

    /// Runs all launches; returns how long each took.
    pub(super) fn run(
        &mut self,
        unit: VectorUnit,
        set: BufferSet,
        scratch: &mut Scratch,
    ) -> Result<Vec<Duration>, DeviceError> {
        self.rules.check_run(set)?;
        self.rules.begin_run();
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
                *input = None;
            }
        }
        self.rules.complete_run(set);
        Ok(times)
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
            Slot::Input(Some(tensor)) => Some(Operand::Input(tensor)),
            Slot::Static(_) => self.static_buffer(set, arg.0).map(Operand::Static),
            Slot::Device(buffer) if buffer.written => {
                Some(Operand::Device(&buffer.values, &self.rules.args()[arg.0]))
            }
            Slot::Input(None) | Slot::Device(_) => None,
        }
    }

    fn explain(&self, set: BufferSet, launch: usize, error: StepError) -> DeviceError {
        let step = &self.steps[launch];
        let missing = step.reads.iter().find(|&&arg| self.operand(set, arg).is_none());
        let arg = missing.or(step.reads.first()).unwrap_or(&step.out);
        match error {
            StepError::Op(error) => error.into(),
            StepError::Unwritten => DeviceError::UnwrittenRead {
                program: self.rules.program().to_owned(),
                set,
                launch,
                kernel: step.op.kernel(),
                arg: self.rules.args()[arg.0].name.clone(),
            },
        }
    }

    /// Reads an output or an intermediate of the last run.
    pub(super) fn read(&self, set: BufferSet, arg: ArgIndex) -> Result<Tensor, DeviceError> {
        let declared = self.rules.check_read(set, arg)?;
        match self.slots.get(arg.0) {
            Some(Slot::Device(buffer)) if buffer.written => Ok(buffer.values.tensor(declared)),
            _ => Err(DeviceError::ResultUnwritten {
                program: self.rules.program().to_owned(),
                set,
                arg: declared.name.clone(),
            }),
        }
    }

    fn static_buffer(&self, set: BufferSet, index: usize) -> Option<&Static> {
        self.statics.get(&set)?.get(&index)
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

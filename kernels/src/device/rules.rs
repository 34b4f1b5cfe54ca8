//! The rules for using a program's buffers, the same on every device.

use std::collections::{BTreeMap, BTreeSet};

use super::{BufferSet, DeviceError};
use crate::{Access, Arg, ArgIndex, Program, Role, Tensor, program::same_memory};

/// For implementors of [`Device`](super::Device): what the host may do with the buffers of one
/// program, and when.
///
/// Hardware reports none of these mistakes: a static buffer that is written twice, an input that
/// was forgotten, an output that is left over from an earlier run. A device asks before it acts
/// ([`check_write`](Self::check_write), [`check_run`](Self::check_run),
/// [`check_read`](Self::check_read)), and reports what it has done.
#[derive(Clone, Debug)]
pub struct BufferRules {
    program: String,
    args: Vec<Arg>,
    /// Whether a launch writes the argument.
    launched: Vec<bool>,
    inputs: BTreeMap<usize, Input>,
    statics: BTreeSet<(BufferSet, usize)>,
    last: Option<LastRun>,
}

/// An input: written by the host before each run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Input {
    /// Never written.
    Unwritten,
    /// Written for the next run, of this set.
    Fresh(BufferSet),
    /// Used by a run, not written since.
    Stale,
}

/// The last run, which completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LastRun {
    set: BufferSet,
    /// The first input that has been written since.
    followed_by: Option<usize>,
}

impl BufferRules {
    /// The rules for a well-formed program ([`Program::check`]), none of whose buffers has been
    /// written.
    pub fn new(program: &Program) -> Self {
        let mut launched = vec![false; program.args.len()];
        for launch in &program.launches {
            for (operand, arg) in launch.op.operands().iter().zip(&launch.args) {
                if let (Access::Write, Some(written)) = (operand.access, launched.get_mut(arg.0)) {
                    *written = true;
                }
            }
        }
        let args = program.args.iter().enumerate();
        let inputs = args.filter(|(_, arg)| arg.role == Role::Input);
        Self {
            program: program.name.clone(),
            launched,
            inputs: inputs.map(|(index, _)| (index, Input::Unwritten)).collect(),
            args: program.args.clone(),
            statics: BTreeSet::new(),
            last: None,
        }
    }

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The program's arguments.
    pub fn args(&self) -> &[Arg] {
        &self.args
    }

    /// Whether the host may write `tensor` now.
    ///
    /// # Errors
    /// If the argument is unknown or the host may not write it, the tensor's type or shape is not
    /// the argument's, or the static buffer has already been written.
    pub fn check_write(
        &self,
        set: BufferSet,
        arg: ArgIndex,
        tensor: &Tensor,
    ) -> Result<(), DeviceError> {
        let declared = self.arg(arg)?;
        let (program, name) = (|| self.program.clone(), || declared.name.clone());
        if matches!(declared.role, Role::Intermediate | Role::Output) {
            let role = declared.role;
            return Err(DeviceError::NotForHost { program: program(), set, arg: name(), role });
        }
        if tensor.dtype() != declared.dtype {
            let (expected, found) = (declared.dtype, tensor.dtype());
            return Err(DeviceError::WrongDType {
                program: program(),
                set,
                arg: name(),
                expected,
                found,
            });
        }
        if !same_memory(tensor.shape(), &declared.shape) {
            let (expected, found) = (declared.shape.clone(), tensor.shape().to_vec());
            return Err(DeviceError::WrongShape {
                program: program(),
                set,
                arg: name(),
                expected,
                found,
            });
        }
        if declared.role == Role::Static && self.statics.contains(&(set, arg.0)) {
            return Err(DeviceError::StaticRewritten { program: program(), set, arg: name() });
        }
        Ok(())
    }

    /// Records that the host has written an input or a static buffer.
    pub fn written(&mut self, set: BufferSet, arg: ArgIndex) {
        match self.inputs.get_mut(&arg.0) {
            Some(input) => {
                *input = Input::Fresh(set);
                if let Some(last) = &mut self.last {
                    last.followed_by.get_or_insert(arg.0);
                }
            }
            None => _ = self.statics.insert((set, arg.0)),
        }
    }

    /// Whether the host has written everything that a run of `set` needs.
    ///
    /// # Errors
    /// If an input has not been written for this run and set, or a static buffer has never been
    /// written for the set; the error names the first of them.
    pub fn check_run(&self, set: BufferSet) -> Result<(), DeviceError> {
        for (index, arg) in self.args.iter().enumerate() {
            let (program, arg_name) = (|| self.program.clone(), || arg.name.clone());
            match (arg.role, self.inputs.get(&index)) {
                (Role::Input, Some(Input::Fresh(written))) if *written != set => {
                    let written = *written;
                    let (program, arg) = (program(), arg_name());
                    return Err(DeviceError::InputOfOtherSet { program, set, arg, written });
                }
                (Role::Input, Some(Input::Stale)) => {
                    return Err(DeviceError::StaleInput {
                        program: program(),
                        set,
                        arg: arg_name(),
                    });
                }
                (Role::Input, Some(Input::Unwritten) | None) => {
                    let (program, arg) = (program(), arg_name());
                    return Err(DeviceError::InputUnwritten { program, set, arg });
                }
                (Role::Static, _) if !self.statics.contains(&(set, index)) => {
                    let (program, arg) = (program(), arg_name());
                    return Err(DeviceError::StaticUnwritten { program, set, arg });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Records that a run begins: the results of the last one are gone.
    pub fn begin_run(&mut self) {
        self.last = None;
    }

    /// Records that the run has completed, so its inputs are used up.
    pub fn complete_run(&mut self, set: BufferSet) {
        self.last = Some(LastRun { set, followed_by: None });
        self.inputs.values_mut().for_each(|input| *input = Input::Stale);
    }

    /// Whether the host may read a buffer now.
    ///
    /// # Errors
    /// If the argument is unknown or the host itself writes it, no run has completed, the last run
    /// was for another set, an input has been written since, or no launch writes the buffer.
    pub fn check_read(&self, set: BufferSet, arg: ArgIndex) -> Result<&Arg, DeviceError> {
        let declared = self.arg(arg)?;
        let (program, name) = (self.program.clone(), declared.name.clone());
        if matches!(declared.role, Role::Input | Role::Static) {
            return Err(DeviceError::NotReadable { program, set, arg: name, role: declared.role });
        }
        let Some(last) = self.last else {
            return Err(DeviceError::NotRun { program, set, arg: name });
        };
        if last.set != set {
            let last = last.set;
            return Err(DeviceError::ResultOfOtherSet { program, set, arg: name, last });
        }
        if let Some(input) = last.followed_by.and_then(|index| self.args.get(index)) {
            let input = input.name.clone();
            return Err(DeviceError::StaleResult { program, set, arg: name, input });
        }
        if !self.launched.get(arg.0).is_some_and(|launched| *launched) {
            return Err(DeviceError::ResultUnwritten { program, set, arg: name });
        }
        Ok(declared)
    }

    fn arg(&self, arg: ArgIndex) -> Result<&Arg, DeviceError> {
        self.args.get(arg.0).ok_or_else(|| DeviceError::UnknownArg {
            program: self.program.clone(),
            index: arg.0,
            count: self.args.len(),
        })
    }
}

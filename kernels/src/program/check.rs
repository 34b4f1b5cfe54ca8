//! Whether a program is well-formed: what can be known before it ever runs.

use std::collections::HashSet;

use super::{Arg, Launch, Program, Role};
use crate::{Access, OpError, Operand, tiling::Illegal};

/// A malformed [`Program`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Nothing to run.
    #[error("program `{program}` has no launch; a dispatch must run at least one")]
    NoLaunch {
        /// Program name.
        program: String,
    },
    /// Two arguments with one name.
    #[error("program `{program}`: two arguments are called `{arg}`; rename one")]
    DuplicateName {
        /// Program name.
        program: String,
        /// The name.
        arg: String,
    },
    /// A launch that no kernel can run.
    #[error("program `{program}`, launch {launch}: {source}")]
    Op {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// What is wrong with the op.
        source: Box<OpError>,
    },
    /// A launch whose tiling breaks a rule.
    #[error(
        "program `{program}`, launch {launch}: {source}; choose another tiling, or leave it to the \
         build"
    )]
    Tiling {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// The rule that it breaks.
        source: Box<Illegal>,
    },
    /// A wrong number of arguments for a launch.
    #[error(
        "program `{program}`, launch {launch} ({kernel}): the kernel has {expected} operands but \
         the launch passes {found} arguments; pass one argument for each operand"
    )]
    OperandCount {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// Operands of the kernel.
        expected: usize,
        /// Arguments of the launch.
        found: usize,
    },
    /// A launch names an argument that the program does not have.
    #[error(
        "program `{program}`, launch {launch} ({kernel}): operand `{operand}` refers to argument \
         {index}, but the program has only {count} arguments, counted from 0"
    )]
    NoSuchArg {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// Operand name.
        operand: &'static str,
        /// Index of the missing argument.
        index: usize,
        /// Number of arguments.
        count: usize,
    },
    /// An argument of another type or shape than the operand it is passed for.
    #[error(
        "program `{program}`, launch {launch} ({kernel}): operand `{name}` is {dtype}{shape:?} but \
         argument `{arg_name}` is {found}{found_shape:?}; declare the argument with the type and \
         shape of the operand",
        name = operand.name, dtype = operand.dtype, shape = operand.shape,
        arg_name = arg.name, found = arg.dtype, found_shape = arg.shape
    )]
    Mismatch {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// The operand.
        operand: Box<Operand>,
        /// The argument.
        arg: Box<Arg>,
    },
    /// A launch writes what only the host may write.
    #[error(
        "program `{program}`, launch {launch} ({kernel}) writes `{arg}`, which is {role:?}; make \
         it Intermediate or Output"
    )]
    WritesHostBuffer {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// Argument name.
        arg: String,
        /// Its role.
        role: Role,
    },
    /// A launch reads and writes one buffer.
    #[error(
        "program `{program}`, launch {launch} ({kernel}) reads and writes `{arg}`, but kernels do \
         not work in place; give the output a buffer of its own"
    )]
    InPlace {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// Argument name.
        arg: String,
    },
    /// A launch reads what no earlier launch wrote.
    #[error(
        "program `{program}`, launch {launch} ({kernel}) reads `{arg}` before any launch has \
         written it; reorder the launches or make it an Input"
    )]
    ReadBeforeWrite {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
        /// Kernel name.
        kernel: &'static str,
        /// Argument name.
        arg: String,
    },
    /// An output that no launch writes.
    #[error(
        "program `{program}`: no launch writes the output `{arg}`; add the launch that writes it, \
         or remove the argument"
    )]
    OutputNeverWritten {
        /// Program name.
        program: String,
        /// Argument name.
        arg: String,
    },
}

impl Program {
    /// Checks everything that can be known before a run: operands exist and agree in type and
    /// shape, no launch writes an [`Input`](Role::Input) or [`Static`](Role::Static) or works in
    /// place, what is read has been written, every output is written, names are unique, tilings are
    /// legal.
    ///
    /// # Errors
    /// If one of these does not hold; the error names the first.
    pub fn check(&self) -> Result<(), ProgramError> {
        if self.launches.is_empty() {
            return Err(ProgramError::NoLaunch { program: self.name.clone() });
        }
        let mut names = HashSet::new();
        if let Some(arg) = self.args.iter().find(|arg| !names.insert(arg.name.as_str())) {
            return Err(ProgramError::DuplicateName {
                program: self.name.clone(),
                arg: arg.name.clone(),
            });
        }
        let mut written: Vec<bool> =
            self.args.iter().map(|arg| matches!(arg.role, Role::Input | Role::Static)).collect();
        for (index, launch) in self.launches.iter().enumerate() {
            self.check_launch(index, launch, &mut written)?;
        }
        let unwritten = |(arg, written): &(&Arg, &bool)| arg.role == Role::Output && !**written;
        match self.args.iter().zip(&written).find(unwritten) {
            Some((arg, _)) => Err(ProgramError::OutputNeverWritten {
                program: self.name.clone(),
                arg: arg.name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn check_launch(
        &self,
        index: usize,
        launch: &Launch,
        written: &mut [bool],
    ) -> Result<(), ProgramError> {
        let (program, kernel) = (|| self.name.clone(), launch.op.kernel());
        launch.op.check().map_err(|source| ProgramError::Op {
            program: program(),
            launch: index,
            source: Box::new(source),
        })?;
        self.check_tiling(launch).map_err(|source| ProgramError::Tiling {
            program: program(),
            launch: index,
            source: Box::new(source),
        })?;
        let operands = launch.op.operands();
        if operands.len() != launch.args.len() {
            return Err(ProgramError::OperandCount {
                program: program(),
                launch: index,
                kernel,
                expected: operands.len(),
                found: launch.args.len(),
            });
        }
        for (operand, &arg_index) in operands.iter().zip(&launch.args) {
            let Some(arg) = self.args.get(arg_index.0) else {
                return Err(ProgramError::NoSuchArg {
                    program: program(),
                    launch: index,
                    kernel,
                    operand: operand.name,
                    index: arg_index.0,
                    count: self.args.len(),
                });
            };
            self.check_operand(index, kernel, operand, arg)?;
            match operand.access {
                Access::Read if !written[arg_index.0] => {
                    return Err(ProgramError::ReadBeforeWrite {
                        program: program(),
                        launch: index,
                        kernel,
                        arg: arg.name.clone(),
                    });
                }
                Access::Write if launch.args.iter().filter(|&&a| a == arg_index).count() > 1 => {
                    return Err(ProgramError::InPlace {
                        program: program(),
                        launch: index,
                        kernel,
                        arg: arg.name.clone(),
                    });
                }
                Access::Read => {}
                Access::Write => written[arg_index.0] = true,
            }
        }
        Ok(())
    }

    fn check_operand(
        &self,
        launch: usize,
        kernel: &'static str,
        operand: &Operand,
        arg: &Arg,
    ) -> Result<(), ProgramError> {
        if operand.dtype != arg.dtype || !same_memory(&operand.shape, &arg.shape) {
            return Err(ProgramError::Mismatch {
                program: self.name.clone(),
                launch,
                kernel,
                operand: Box::new(operand.clone()),
                arg: Box::new(arg.clone()),
            });
        }
        if operand.access == Access::Write && matches!(arg.role, Role::Input | Role::Static) {
            return Err(ProgramError::WritesHostBuffer {
                program: self.name.clone(),
                launch,
                kernel,
                arg: arg.name.clone(),
                role: arg.role,
            });
        }
        Ok(())
    }
}

/// Equal up to leading extents of 1: the `[1, 576]` that a norm writes is the `[576]` that a GEMV
/// reads.
pub(crate) fn same_memory(a: &[usize], b: &[usize]) -> bool {
    fn significant(shape: &[usize]) -> &[usize] {
        &shape[shape.iter().take_while(|&&extent| extent == 1).count()..]
    }
    significant(a) == significant(b)
}

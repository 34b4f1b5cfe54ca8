//! A launch made ready to run.

use super::{
    EmulatorOptions, Substitution,
    buffer::{Operand, Values},
};
use crate::{
    datapath::{Datapath, Operands, Prepare, Scratch, Tables, Unwritten, vector::VectorUnit},
    kernel::{KernelSpec, OpError},
    op::{Op, with_op},
    program::{ArgIndex, Launch},
    reference,
    rounding::Rounding,
};

/// One launch.
pub(super) struct Step {
    pub(super) op: Op,
    path: Path,
    /// The arguments that it reads, in the order of its operands.
    pub(super) reads: Vec<ArgIndex>,
    /// The argument that it writes.
    pub(super) out: ArgIndex,
}

/// What runs it.
enum Path {
    Kernel(Box<dyn Datapath>),
    /// The f32 reference, narrowed to nearest even.
    Reference,
}

/// Why a step did not run.
pub(super) enum StepError {
    /// An operand has nothing to read.
    Unwritten,
    /// The reference refused.
    Op(OpError),
}

impl From<Unwritten> for StepError {
    fn from(_: Unwritten) -> Self {
        Self::Unwritten
    }
}

impl Step {
    /// Prepares launch `index` of the program called `program`.
    pub(super) fn new(
        program: &str,
        index: usize,
        launch: &Launch,
        options: &EmulatorOptions,
        tables: &mut Tables,
    ) -> Self {
        let substituted = options.substitute.iter().any(|substitution| match substitution {
            Substitution::Kernel(kernel) => *kernel == launch.op.kind(),
            Substitution::Launch { program: p, launch } => p == program && *launch == index,
        });
        let path = if substituted {
            Path::Reference
        } else {
            let functions = &options.functions;
            let mut prepare = Prepare { rounding: launch.rounding, functions, tables };
            Path::Kernel(with_op!(&launch.op, kernel => kernel.datapath(&mut prepare)))
        };
        let Some((&out, reads)) = launch.args.split_last() else {
            unreachable!("`Program::check` compares the arguments with the op's operands")
        };
        Self { op: launch.op, path, reads: reads.to_vec(), out }
    }

    /// The mode in which the operand at `position` is quantised and packed, if it is a right matrix
    /// that this step wants packed.
    pub(super) fn packs(&self, position: usize) -> Option<Rounding> {
        match &self.path {
            Path::Kernel(datapath) => datapath.packs(position),
            Path::Reference => None,
        }
    }

    /// Reads `operands` and writes `out`.
    pub(super) fn run(
        &self,
        unit: VectorUnit,
        operands: &[Operand<'_>],
        scratch: &mut Scratch,
        out: &mut Values,
    ) -> Result<(), StepError> {
        match &self.path {
            Path::Kernel(datapath) => {
                let operands: Vec<_> = operands.iter().map(|operand| operand.read()).collect();
                Ok(datapath.run(unit, Operands(&operands), scratch, out.output())?)
            }
            Path::Reference => self.run_reference(operands, out),
        }
    }

    fn run_reference(&self, operands: &[Operand<'_>], out: &mut Values) -> Result<(), StepError> {
        let inputs: Option<Vec<_>> = operands.iter().map(|operand| operand.tensor()).collect();
        let inputs = inputs.ok_or(StepError::Unwritten)?;
        let result = reference::run(&self.op, &inputs).map_err(StepError::Op)?;
        match out {
            Values::Bf16(out) => Rounding::NearestEven.narrow_slice(&result, out),
            Values::F32(out) => out.copy_from_slice(&result),
        }
        Ok(())
    }
}

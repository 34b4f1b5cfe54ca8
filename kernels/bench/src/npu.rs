use crate::BenchError;
use npugate_kernels::{
    Access, Arg, ArgIndex, BufferSet, Device, Emulator, EmulatorOptions, Launch, Op, Program,
    ProgramId, Role, Tensor, Toolchain,
    inputs::{self, Draw},
};
use std::time::Duration;

const SET: BufferSet = BufferSet(0);

/// One op on an emulated NPU with default options. Right-hand matrices and weights are static,
/// as in a model: they are written and packed before the clock starts.
pub struct Npu {
    emulator: Emulator,
    program: ProgramId,
    inputs: Vec<(ArgIndex, Tensor)>,
}

impl Npu {
    /// Loads a program of one launch.
    ///
    /// # Errors
    ///
    /// If the device refuses the op.
    pub fn new(op: Op) -> Result<Self, BenchError> {
        let is_static = |name: &str| match op {
            Op::Gemm(_) => name == "b",
            Op::Gemv(_) => name == "a",
            _ => false,
        };
        let role = |access, name: &str| match access {
            Access::Write => Role::Output,
            Access::Read if is_static(name) => Role::Static,
            Access::Read => Role::Input,
        };
        let args: Vec<Arg> = op
            .operands()
            .into_iter()
            .map(|operand| Arg {
                name: operand.name.to_owned(),
                dtype: operand.dtype,
                role: role(operand.access, operand.name),
                shape: operand.shape,
            })
            .collect();
        let operands: Vec<ArgIndex> = (0..args.len()).map(ArgIndex).collect();
        let launch = Launch::new(op, operands, Toolchain::Npu2_2026_06.rounding(&op));
        let program = Program { name: op.shape_key(), args, launches: vec![launch] };
        let mut emulator = Emulator::new(EmulatorOptions::default());
        let id = emulator.load(&program)?;
        let mut inputs = Vec::new();
        for (index, tensor) in
            inputs::draw(&op, Draw::Registry { seed: 42 }).into_iter().enumerate()
        {
            let arg = ArgIndex(index);
            if program.args[index].role == Role::Static {
                emulator.write(id, SET, arg, tensor)?;
            } else {
                inputs.push((arg, tensor));
            }
        }
        Ok(Self { emulator, program: id, inputs })
    }

    /// Writes the inputs, which is not timed since hardware does it by DMA, and runs.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn run(&mut self) -> Result<Duration, BenchError> {
        for (arg, tensor) in &self.inputs {
            self.emulator.write(self.program, SET, *arg, tensor.clone())?;
        }
        Ok(self.emulator.run(self.program, SET)?.run)
    }

    /// The vector unit that the emulator uses.
    pub fn vector_unit(&self) -> String {
        self.emulator.info().vector_unit
    }
}

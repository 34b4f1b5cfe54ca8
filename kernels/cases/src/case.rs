//! One kernel at one shape, as the checks see it.

use std::sync::Arc;

use npugate::schema::{Attribute, Attributes};
use npugate::{Bias, Context, Draw, Kernel, KernelId, RunError, Tensor, Tolerance};
use npugate_kernels::{
    ArgIndex, BufferSet, DType, Device, DeviceError, Launch, Operand, Program, inputs, reference,
    registry,
};

use crate::{
    convert::{self, to_device, to_harness},
    error::run_error,
};

/// Opens the device of a run.
pub type OpenDevice = Arc<dyn Fn() -> Result<Box<dyn Device>, DeviceError> + Send + Sync>;

/// One kernel at one shape, run on a device that is opened for it.
pub(crate) struct KernelCase {
    /// The name of the launch as the programs have it, even if only part of it is run.
    pub(crate) id: KernelId,
    pub(crate) launch: Launch,
    pub(crate) open: OpenDevice,
}

/// A launch as its own program: what a device loads to test its kernel.
pub(crate) fn single(launch: &Launch) -> Program {
    let mut program = Program::single(launch.op, launch.rounding);
    for single in &mut program.launches {
        single.tiling = launch.tiling;
    }
    program
}

impl KernelCase {
    /// The operand that is written: the last.
    fn output(&self) -> Option<Operand> {
        self.launch.op.operands().pop()
    }

    fn run_on_device(&self, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        let program = single(&self.launch);
        // The operand that is written comes last, after all that are read.
        let output = ArgIndex(program.args.len() - 1);
        if inputs.len() != output.0 {
            let (name, wanted, given) = (&program.name, output.0, inputs.len());
            return Err(RunError::fault(format!(
                "kernel `{name}` reads {wanted} operands but {given} were given"
            )));
        }
        let mut device = (self.open)().map_err(run_error)?;
        let (id, set) = (device.load(&program).map_err(run_error)?, BufferSet(0));
        for (index, input) in inputs.iter().enumerate() {
            let tensor = to_device(input).map_err(RunError::fault)?;
            device.write(id, set, ArgIndex(index), tensor).map_err(run_error)?;
        }
        device.run(id, set).map_err(run_error)?;
        to_harness(&device.read(id, set, output).map_err(run_error)?)
    }
}

impl Kernel for KernelCase {
    fn id(&self) -> KernelId {
        self.id.clone()
    }

    fn attributes(&self) -> Attributes {
        let mut attributes = self.id.attributes();
        let dimensions = self.launch.op.dimensions().into_iter();
        attributes.extend(dimensions.map(|(name, value)| (name, Attribute::Number(value))));
        attributes
    }

    fn output_dtype(&self) -> npugate::DType {
        convert::dtype(self.output().map_or(DType::Bf16, |output| output.dtype))
    }

    fn tolerance(&self) -> Tolerance {
        let registry::Tolerance { rtol, atol } = registry::tolerance(&self.launch.op);
        Tolerance { rtol, atol }
    }

    fn inputs(&self, draw: Draw) -> Option<Vec<Tensor>> {
        let op = &self.launch.op;
        let draw = match draw {
            Draw::Registry { seed } => inputs::Draw::Registry { seed },
            Draw::Integers { .. } if !inputs::exact_integers(op) => return None,
            Draw::Integers { seed } => inputs::Draw::Integers { seed },
        };
        let drawn = inputs::draw(op, draw);
        Some(drawn.iter().map(convert::drawn_to_harness).collect())
    }

    fn reference(&self, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        let inputs = inputs.iter().map(to_device).collect::<Result<Vec<_>, _>>();
        let inputs = inputs.map_err(RunError::fault)?;
        let values = reference::run(&self.launch.op, &inputs).map_err(RunError::fault)?;
        let shape = self.output().map(|output| output.shape).unwrap_or_default();
        Ok(Tensor::new(shape, npugate::DType::F32, values)?)
    }

    fn run(&self, _: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        self.run_on_device(inputs)
    }

    fn head_dim(&self) -> Option<usize> {
        self.launch.op.head_dim()
    }

    fn bias(&self) -> Bias {
        match self.launch.op.bias(self.launch.rounding) {
            npugate_kernels::Bias::None => Bias::None,
            npugate_kernels::Bias::Declared => Bias::Declared,
        }
    }

    fn sqnr_floor(&self) -> Option<f64> {
        Some(self.launch.op.sqnr_floor())
    }
}

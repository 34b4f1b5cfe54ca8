//! Every distinct launch of the programs as a kernel test.

use crate::{Programs, convert, hardware::run_error};
use npugate::schema::{Attribute, Attributes};
use npugate::{Bias, Context, Draw, Effort, Kernel, KernelId, RunError, Tensor, Tolerance};
use npugate_kernels::{
    ArgIndex, BufferSet, DType, Device, DeviceError, FlashAttention, Gemm, GemmOutput, Launch,
    Mask, Op, Program, Rounding, inputs, reference, registry,
};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

/// Opens the device of a run.
pub(crate) type OpenDevice = Arc<dyn Fn() -> Result<Box<dyn Device>, DeviceError> + Send + Sync>;

/// One kernel at one shape, run on a device that is opened for it.
struct KernelCase {
    /// Of the launch as the programs have it, whatever is run of it.
    id: KernelId,
    launch: Launch,
    open: OpenDevice,
}

/// Two launches that differ in what they compute, and would be one test.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error(
    "`{id}` would name two kernels, {0:?} rounding {1:?} and {2:?} rounding {3:?}; one of them would \
     go untested",
    first.op, first.rounding, second.op, second.rounding
)]
pub(crate) struct AmbiguousKernel {
    id: KernelId,
    first: Box<Launch>,
    second: Box<Launch>,
}

impl AmbiguousKernel {
    /// Whether the launches compute the same and only round differently.
    pub(crate) fn differ_in_rounding(&self) -> bool {
        self.first.op == self.second.op
    }
}

/// One case for each distinct launch of `programs`, in the order in which they
/// run first, with as much of its shape as `effort` asks for.
///
/// # Errors
///
/// Launches that differ in what no test name says: rounding, an epsilon, how an
/// accumulator is narrowed.
pub(crate) fn kernel_cases(
    programs: &Programs,
    open: &OpenDevice,
    effort: Effort,
) -> Result<Vec<Box<dyn Kernel>>, AmbiguousKernel> {
    let mut seen = BTreeMap::new();
    let mut cases: Vec<Box<dyn Kernel>> = Vec::new();
    for launch in programs.launches() {
        match seen.entry(id(&launch.op)) {
            Entry::Vacant(entry) => {
                let id = entry.key().clone();
                let launch = entry.insert(launch);
                let launch = match effort {
                    Effort::Full => launch.clone(),
                    Effort::Smoke => smoke(launch),
                };
                cases.push(Box::new(KernelCase { id, launch, open: open.clone() }));
            }
            Entry::Occupied(entry) => {
                let first = *entry.get();
                if (first.op, first.rounding) != (launch.op, launch.rounding) {
                    let (first, second) = (Box::new(first.clone()), Box::new(launch.clone()));
                    return Err(AmbiguousKernel { id: entry.key().clone(), first, second });
                }
            }
        }
    }
    Ok(cases)
}

/// A launch as a program of its own: what a device loads to test its kernel.
fn single(launch: &Launch) -> Program {
    let mut program = Program::single(launch.op, launch.rounding);
    for single in &mut program.launches {
        single.tiling = launch.tiling;
    }
    program
}

/// The programs that the kernel tests load, one for each distinct launch.
pub(crate) fn kernel_programs(programs: &Programs) -> Vec<Program> {
    let mut seen = BTreeMap::new();
    for launch in programs.launches() {
        seen.entry(id(&launch.op)).or_insert_with(|| single(launch));
    }
    seen.into_values().collect()
}

/// The launch on few rows. A tiling that no longer fits is left to the build.
fn smoke(launch: &Launch) -> Launch {
    let op = launch.op.smoke();
    let tiling = launch.tiling.filter(|tiling| tiling.check(&op).is_ok());
    Launch { op, tiling, ..launch.clone() }
}

/// Names the test of a launch of `op`.
pub(crate) fn id(op: &Op) -> KernelId {
    KernelId {
        op: op.kernel().to_owned(),
        shape: op.shape_key(),
        tier: op.tier().map(str::to_owned),
    }
}

/// The sizes of an op under the names that they have in its record: `m`, `head_dim`.
fn dimensions(op: &Op) -> Attributes {
    let tagged = serde_json::to_value(op).unwrap_or_default();
    let fields = tagged.as_object().into_iter().flat_map(|tagged| tagged.values());
    let fields = fields.filter_map(serde_json::Value::as_object).flatten();
    fields
        .filter_map(|(name, value)| Some((name.clone(), Attribute::Number(value.as_u64()?))))
        .collect()
}

impl KernelCase {
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
            let tensor = convert::to_device(input).map_err(RunError::fault)?;
            device.write(id, set, ArgIndex(index), tensor).map_err(run_error)?;
        }
        device.run(id, set).map_err(run_error)?;
        convert::to_harness(&device.read(id, set, output).map_err(run_error)?)
    }
}

impl Kernel for KernelCase {
    fn id(&self) -> KernelId {
        self.id.clone()
    }

    fn attributes(&self) -> Attributes {
        let mut attributes = self.id.attributes();
        attributes.extend(dimensions(&self.launch.op));
        attributes
    }

    fn output_dtype(&self) -> npugate::DType {
        match self.launch.op.operands().pop().map(|operand| operand.dtype) {
            Some(DType::F32) => npugate::DType::F32,
            Some(DType::Bf16) | None => npugate::DType::Bf16,
        }
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
        let op = &self.launch.op;
        let inputs = inputs.iter().map(convert::to_device).collect::<Result<Vec<_>, _>>();
        let values =
            reference::run(op, &inputs.map_err(RunError::fault)?).map_err(RunError::fault)?;
        let shape = op.operands().pop().map(|operand| operand.shape).unwrap_or_default();
        Ok(Tensor::new(shape, npugate::DType::F32, values)?)
    }

    fn run(&self, _: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        self.run_on_device(inputs)
    }

    fn head_dim(&self) -> Option<usize> {
        match &self.launch.op {
            Op::Rope(rope) => Some(rope.head_dim),
            Op::FlashAttention(attention) => Some(attention.head_dim),
            _ => None,
        }
    }

    /// Rounding to nearest averages out. The exp2 of attention and softmax and
    /// the tanh of `SiLU` and GELU are approximations that lean to one side.
    fn bias(&self) -> Bias {
        match (&self.launch.op, self.launch.rounding) {
            (Op::FlashAttention(_) | Op::Softmax(_) | Op::SiluMul(_) | Op::Gelu(_), _)
            | (_, Rounding::Floor | Rounding::TowardZero) => Bias::Declared,
            (_, Rounding::NearestEven) => Bias::None,
        }
    }

    fn sqnr_floor(&self) -> Option<f64> {
        Some(sqnr_floor(&self.launch.op))
    }
}

/// The lowest acceptable SQNR in decibels against the f32 reference.
///
/// - GEMM: 37. BFP16 operands alone leave 40.6 dB, the registry's published
///   `mean_rel_L1` of 9.3e-3; below 37 something else is wrong. `direct` adds
///   the noise of a bf16 accumulator, for which the floor is
///   `40 - 10 log10(K / 2048)` dB but 50 at most; both noises add up.
/// - GEMV: 52. One rounding to nearest even leaves 55.5 dB, truncation 49.7.
/// - FlashAttention: 28 where a query sees no key after its own, the published
///   relative error of 4e-2. Measured at 256 to 2048 tokens, it leaves 29.2 dB
///   and more, on a core that floors 26.4 and less. 25 where it sees all keys,
///   of which the published error is up to 5.5e-2: 25.4 dB and more, with floor
///   20.3 and less.
/// - Softmax, which has the same exp2: 25.
/// - Everything else: 33, llama.cpp's NMSE of 5e-4, which floor rounding and
///   the hardware's tanh keep as well.
fn sqnr_floor(op: &Op) -> f64 {
    const BFP16: f64 = 37.0;
    match *op {
        Op::Gemm(Gemm { k, output: GemmOutput::Direct, .. }) => {
            let accumulator = (40.0 - 10.0 * (k as f64 / 2048.0).log10()).min(50.0);
            let noise = |decibels: f64| 10f64.powf(-decibels / 10.0);
            -10.0 * (noise(BFP16) + noise(accumulator)).log10()
        }
        Op::Gemm(_) => BFP16,
        Op::Gemv(_) => 52.0,
        Op::FlashAttention(FlashAttention { mask, .. }) => match mask {
            Mask::Causal | Mask::SlidingWindow(_) => 28.0,
            Mask::Full => 25.0,
        },
        Op::Softmax(_) => 25.0,
        Op::RmsNorm(_)
        | Op::Rope(_)
        | Op::SiluMul(_)
        | Op::Add(_)
        | Op::LayerNorm(_)
        | Op::Gelu(_) => 33.0,
    }
}

#[cfg(test)]
mod tests;

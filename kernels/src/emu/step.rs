//! A launch made ready to run: the datapath it takes and the tables it needs.

use std::{collections::BTreeMap, sync::Arc};

use half::bf16;

use super::{
    EmulatorOptions, Functions, Rsqrt, Substitution,
    buffer::{Operand, Values},
    kernels::{
        Exponential, SoftmaxFunctions, add, flash_attention, gelu, gemm, gemv, layer_norm,
        rms_norm, rope, row_softmax, silu_mul,
    },
    pack::Panels,
    tile::{LeftPair, RightPair},
    vector::VectorUnit,
};
use crate::{
    Add, ArgIndex, FlashAttention, Gelu, Gemm, Gemv, Launch, LayerNorm, Op, OpError, RmsNorm, Rope,
    Rounding, SiluMul, Softmax, reference,
};

/// One launch.
pub(super) struct Step {
    pub(super) op: Op,
    rounding: Rounding,
    datapath: Datapath,
    /// The arguments that it reads, in the order of its operands.
    pub(super) reads: Vec<ArgIndex>,
    /// The argument that it writes.
    pub(super) out: ArgIndex,
}

/// What runs it.
enum Datapath {
    Gemm(Gemm),
    Gemv(Gemv),
    RmsNorm(RmsNorm, Rsqrt),
    Rope(Rope),
    FlashAttention(FlashAttention, SoftmaxFunctions),
    SiluMul(Arc<[bf16]>),
    Add,
    LayerNorm(LayerNorm, Rsqrt),
    Gelu(Arc<[bf16]>),
    Softmax(Softmax, SoftmaxFunctions),
    /// The f32 reference, narrowed to nearest even.
    Reference,
}

/// Tables of functions by all of their values: a millisecond or two each to build, so built once.
#[derive(Default)]
pub(super) struct Tables {
    silu: BTreeMap<Rounding, Arc<[bf16]>>,
    gelu: BTreeMap<Rounding, Arc<[bf16]>>,
    /// FlashAttention's by head dimension.
    exponential: BTreeMap<usize, Arc<Exponential>>,
    softmax: Option<Arc<Exponential>>,
}

/// Memory that launches use one after another; it grows to the largest and stays.
#[derive(Default)]
pub(super) struct Scratch {
    left: Vec<LeftPair>,
    panels: Panels,
    pairs: Vec<RightPair>,
    wide: Vec<f32>,
}

/// Why a step did not run.
pub(super) enum StepError {
    /// An operand has nothing to read.
    Unwritten,
    /// The reference refused.
    Op(OpError),
}

impl Step {
    /// Chooses the datapath of launch `index` of the program called `program`.
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
        let datapath = if substituted {
            Datapath::Reference
        } else {
            Datapath::new(launch, &options.functions, tables)
        };
        let Some((&out, reads)) = launch.args.split_last() else {
            unreachable!("`Program::check` compares the arguments with the op's operands")
        };
        Self { op: launch.op, rounding: launch.rounding, datapath, reads: reads.to_vec(), out }
    }

    /// The mode in which the operand at `position` is quantised and packed, if it is a right matrix
    /// that this step wants packed.
    pub(super) fn packs(&self, position: usize) -> Option<Rounding> {
        match &self.datapath {
            Datapath::Gemm(gemm) if position == 1 => {
                Some(gemm::block_rounding(gemm, self.rounding))
            }
            _ => None,
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
        let rounding = self.rounding;
        let read = |position: usize| {
            let operand = operands.get(position).and_then(|operand| operand.bf16());
            operand.ok_or(StepError::Unwritten)
        };
        match (&self.datapath, out) {
            (Datapath::Gemm(gemm), out) => run_gemm(unit, *gemm, rounding, operands, scratch, out)?,
            (Datapath::Gemv(gemv), Values::Bf16(y)) => {
                gemv::run(unit, *gemv, rounding, (read(0)?, read(1)?), &mut scratch.wide, y);
            }
            (Datapath::RmsNorm(norm, rsqrt), Values::Bf16(y)) => {
                rms_norm::run(unit, *norm, rounding, rsqrt, (read(0)?, read(1)?), y);
            }
            (Datapath::Rope(rope), Values::Bf16(y)) => {
                rope::run(unit, *rope, rounding, read(0)?, read(1)?, y);
            }
            (Datapath::FlashAttention(op, functions), Values::Bf16(o)) => {
                let qkv = (read(0)?, read(1)?, read(2)?);
                flash_attention::run(unit, *op, rounding, functions, qkv, &mut scratch.pairs, o);
            }
            (Datapath::SiluMul(silu), Values::Bf16(out)) => {
                silu_mul::run(unit, rounding, silu, read(0)?, read(1)?, out);
            }
            (Datapath::Add, Values::Bf16(out)) => {
                add::run(unit, rounding, read(0)?, read(1)?, out);
            }
            (Datapath::LayerNorm(norm, rsqrt), Values::Bf16(y)) => {
                layer_norm::run(unit, *norm, rounding, rsqrt, (read(0)?, read(1)?), y);
            }
            (Datapath::Gelu(table), Values::Bf16(y)) => gelu::run(table, read(0)?, y),
            (Datapath::Softmax(op, functions), Values::Bf16(y)) => {
                row_softmax::run(unit, *op, rounding, functions, read(0)?, y);
            }
            // The reference, or an output of another type than the kernel's, which `Program::check`
            // refuses.
            (_, out) => self.run_reference(operands, out)?,
        }
        Ok(())
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

fn run_gemm(
    unit: VectorUnit,
    gemm: Gemm,
    rounding: Rounding,
    operands: &[Operand<'_>],
    scratch: &mut Scratch,
    out: &mut Values,
) -> Result<(), StepError> {
    let &[a, b] = operands else { return Err(StepError::Unwritten) };
    let a = a.bf16().ok_or(StepError::Unwritten)?;
    let block = gemm::block_rounding(&gemm, rounding);
    let panels = if let Some(panels) = b.panels(block) {
        panels
    } else {
        let values = b.bf16().ok_or(StepError::Unwritten)?;
        scratch.panels.pack(unit, block, values, gemm.n);
        &scratch.panels
    };
    match out {
        Values::Bf16(c) => gemm::run(unit, gemm, rounding, (a, panels), &mut scratch.left, c),
        Values::F32(c) => gemm::run(unit, gemm, rounding, (a, panels), &mut scratch.left, c),
    }
    Ok(())
}

impl Datapath {
    fn new(launch: &Launch, functions: &Functions, tables: &mut Tables) -> Self {
        let softmax = |exp: &Arc<Exponential>| SoftmaxFunctions {
            exp: Arc::clone(exp),
            reciprocal: functions.reciprocal.clone(),
        };
        match launch.op {
            Op::Gemm(gemm) => Self::Gemm(gemm),
            Op::Gemv(gemv) => Self::Gemv(gemv),
            Op::RmsNorm(norm) => Self::RmsNorm(norm, functions.rsqrt.clone()),
            Op::Rope(rope) => Self::Rope(rope),
            Op::FlashAttention(op) => {
                let build = || flash_attention::exponential(&functions.exp2, op.head_dim).into();
                let table = tables.exponential.entry(op.head_dim).or_insert_with(build);
                Self::FlashAttention(op, softmax(table))
            }
            Op::SiluMul(SiluMul { .. }) => {
                let build = || silu_mul::table(&functions.tanh, launch.rounding).into();
                let table = tables.silu.entry(launch.rounding).or_insert_with(build);
                Self::SiluMul(Arc::clone(table))
            }
            Op::Add(Add { .. }) => Self::Add,
            Op::LayerNorm(norm) => Self::LayerNorm(norm, functions.rsqrt.clone()),
            Op::Gelu(Gelu { .. }) => {
                let build = || gelu::table(&functions.tanh, launch.rounding).into();
                Self::Gelu(Arc::clone(tables.gelu.entry(launch.rounding).or_insert_with(build)))
            }
            Op::Softmax(op) => {
                let build = || row_softmax::exponential(&functions.exp2).into();
                Self::Softmax(op, softmax(tables.softmax.get_or_insert_with(build)))
            }
        }
    }
}

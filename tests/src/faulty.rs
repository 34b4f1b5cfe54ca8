//! A device with one fault: it passes everything on to a sound device and changes one
//! thing on the way, as a broken kernel or broken host code would.

use half::bf16;
use npugate_kernels::{
    ArgIndex, BufferSet, Counters, Device, DeviceError, DeviceInfo, Dispatch, Emulator,
    EmulatorOptions, Functions, Mask, Op, Program, ProgramId, Tensor,
};
use std::fmt;

/// A fault, in the words of the person who would have caused it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Nothing is wrong: the control.
    None,
    /// The weights of layers 1 and 2 are in each other's buffers.
    LayersSwapped,
    /// FlashAttention attends to later positions.
    CausalMaskDropped,
    /// The rotary table has the frequencies of another base.
    RopeTheta,
    /// The two heads of the key projection are swapped.
    KvHeadMapped,
    /// Decode stores each key and value one position too late.
    KvWriteOffset,
    /// Layer 1 never writes its row 2.
    RowZeroed,
    /// One element of layer 1's output is NaN.
    Nan,
    /// The LM head keeps 3 of its 8 significant bits: coarse, but not a bug.
    LmHeadTruncated,
}

impl Fault {
    /// Every fault, the control first.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::LayersSwapped,
        Self::CausalMaskDropped,
        Self::RopeTheta,
        Self::KvHeadMapped,
        Self::KvWriteOffset,
        Self::RowZeroed,
        Self::Nan,
        Self::LmHeadTruncated,
    ];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none (control)",
            Self::LayersSwapped => "two layers' weights swapped",
            Self::CausalMaskDropped => "causal mask dropped",
            Self::RopeTheta => "RoPE theta 500,000 instead of 10,000",
            Self::KvHeadMapped => "one KV head mapped wrong",
            Self::KvWriteOffset => "KV write offset by one in decode",
            Self::RowZeroed => "one row zeroed",
            Self::Nan => "NaN in one element",
            Self::LmHeadTruncated => "LM head truncated to 3 significant bits",
        })
    }
}

/// The layer at which local faults sit.
const LAYER: BufferSet = BufferSet(1);
const OTHER_LAYER: BufferSet = BufferSet(2);

/// An emulated NPU with a fault. It knows the arguments of the decoder's programs by
/// name.
pub struct FaultyDevice {
    inner: Emulator,
    fault: Fault,
    programs: Vec<Program>,
    /// The rows of the sound rotary table, by position.
    rope_rows: Vec<Vec<f32>>,
    /// The keys and values that the decode of each layer returned last.
    stale: Vec<(BufferSet, String, Tensor)>,
}

impl FaultyDevice {
    /// An emulated NPU with these functions and a fault.
    pub fn new(fault: Fault, functions: &Functions) -> Self {
        let functions = functions.clone();
        Self {
            inner: Emulator::new(EmulatorOptions { functions, ..EmulatorOptions::default() }),
            fault,
            programs: Vec::new(),
            rope_rows: Vec::new(),
            stale: Vec::new(),
        }
    }

    fn names(&self, program: ProgramId, arg: ArgIndex) -> (&str, &str) {
        let program = &self.programs[program.index()];
        (&program.name, &program.args[arg.0].name)
    }

    /// The rotary table for another base. The single row of a decode step is looked up in
    /// the table of the prefill, which gives its position.
    fn wrong_rope(&mut self, tensor: &Tensor) -> Tensor {
        const THETA: f64 = 500_000.0;
        let head_dim = tensor.shape()[1];
        let rows: Vec<Vec<f32>> = tensor.to_f32().chunks(head_dim).map(<[f32]>::to_vec).collect();
        if rows.len() > 1 {
            self.rope_rows.clone_from(&rows);
        }
        let half = head_dim / 2;
        let mut wrong = Vec::new();
        for row in &rows {
            let position = self.rope_rows.iter().position(|known| known == row).unwrap_or(0);
            let angle = |i: usize| position as f64 / THETA.powf(2.0 * i as f64 / head_dim as f64);
            wrong.extend((0..half).map(|i| angle(i).cos() as f32));
            wrong.extend((0..half).map(|i| angle(i).sin() as f32));
        }
        bf16_tensor(tensor.shape(), &wrong)
    }
}

impl Device for FaultyDevice {
    fn info(&self) -> DeviceInfo {
        self.inner.info()
    }

    fn load(&mut self, program: &Program) -> Result<ProgramId, DeviceError> {
        let mut program = program.clone();
        if self.fault == Fault::CausalMaskDropped {
            for launch in &mut program.launches {
                if let Op::FlashAttention(attention) = &mut launch.op {
                    attention.mask = Mask::Full;
                }
            }
        }
        let id = self.inner.load(&program)?;
        self.programs.push(program);
        Ok(id)
    }

    fn write(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
        tensor: Tensor,
    ) -> Result<(), DeviceError> {
        let (name, arg_name) = self.names(program, arg);
        let is_weight = arg_name.starts_with('w') || arg_name.ends_with("norm_w");
        let (set, tensor) = match self.fault {
            Fault::LayersSwapped if is_weight && !name.starts_with("lm_head") => {
                let swapped = match set {
                    LAYER => OTHER_LAYER,
                    OTHER_LAYER => LAYER,
                    other => other,
                };
                (swapped, tensor)
            }
            Fault::RopeTheta if arg_name == "rope_lut" => (set, self.wrong_rope(&tensor)),
            Fault::KvHeadMapped if arg_name == "wk" => {
                let in_rows = name.starts_with("decode");
                (set, swap_halves(&tensor, in_rows))
            }
            Fault::LmHeadTruncated if name.starts_with("lm_head") && arg_name == "lm_head_w" => {
                (set, truncated(&tensor))
            }
            _ => (set, tensor),
        };
        self.inner.write(program, set, arg, tensor)
    }

    fn run(&mut self, program: ProgramId, set: BufferSet) -> Result<Dispatch, DeviceError> {
        self.inner.run(program, set)
    }

    fn read(
        &mut self,
        program: ProgramId,
        set: BufferSet,
        arg: ArgIndex,
    ) -> Result<Tensor, DeviceError> {
        let tensor = self.inner.read(program, set, arg)?;
        let (name, arg_name) = self.names(program, arg);
        let is_block_output = name.starts_with("o_ffn") && arg_name == "out" && set == LAYER;
        match self.fault {
            Fault::RowZeroed if is_block_output => Ok(with_row(&tensor, 2, 0.0, usize::MAX)),
            Fault::Nan if is_block_output => Ok(with_row(&tensor, 2, f32::NAN, 1)),
            Fault::KvWriteOffset
                if name.starts_with("decode") && matches!(arg_name, "k_rope" | "v") =>
            {
                let key = arg_name.to_owned();
                let before =
                    self.stale.iter_mut().find(|(layer, name, _)| *layer == set && *name == key);
                if let Some((_, _, stale)) = before {
                    return Ok(std::mem::replace(stale, tensor));
                }
                let zeros = vec![0.0; tensor.len()];
                let first = bf16_tensor(tensor.shape(), &zeros);
                self.stale.push((set, key, tensor));
                Ok(first)
            }
            _ => Ok(tensor),
        }
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

fn bf16_tensor(shape: &[usize], values: &[f32]) -> Tensor {
    let values: Vec<bf16> = values.iter().map(|value| bf16::from_f32(*value)).collect();
    Tensor::bf16(shape, values).unwrap_or_else(|error| panic!("{error}"))
}

/// Swaps the two halves of the rows, or of every row's columns.
fn swap_halves(tensor: &Tensor, in_rows: bool) -> Tensor {
    let mut values = tensor.to_f32();
    let chunk = if in_rows { values.len() } else { tensor.shape()[1] };
    for row in values.chunks_mut(chunk) {
        row.rotate_left(chunk / 2);
    }
    bf16_tensor(tensor.shape(), &values)
}

/// Keeps 3 significant bits of every value and truncates the rest.
fn truncated(tensor: &Tensor) -> Tensor {
    let cut = |value: f32| f32::from_bits(value.to_bits() & 0xFFE0_0000);
    let values: Vec<f32> = tensor.to_f32().into_iter().map(cut).collect();
    bf16_tensor(tensor.shape(), &values)
}

/// Sets the first `count` values of a row.
fn with_row(tensor: &Tensor, row: usize, value: f32, count: usize) -> Tensor {
    let width = tensor.shape()[1];
    let mut values = tensor.to_f32();
    let count = count.min(width);
    values[row * width..row * width + count].fill(value);
    bf16_tensor(tensor.shape(), &values)
}

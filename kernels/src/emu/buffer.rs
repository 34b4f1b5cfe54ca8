//! What the buffers of a program hold.

use half::bf16;

use crate::{
    datapath::{self, Output, pack::Panels, vector::VectorUnit},
    dtype::DType,
    program::Arg,
    rounding::Rounding,
    tensor::{Tensor, TensorData},
};

/// An intermediate or an output: written by launches.
pub(super) struct Device {
    pub(super) values: Values,
    /// Whether a launch of the current or last run has written it.
    pub(super) written: bool,
}

/// The memory of a [`Device`] buffer.
pub(super) enum Values {
    Bf16(Vec<bf16>),
    F32(Vec<f32>),
}

impl Device {
    pub(super) fn new(arg: &Arg) -> Self {
        let values = match arg.dtype {
            DType::Bf16 => Values::Bf16(vec![bf16::NAN; arg.len()]),
            DType::F32 => Values::F32(vec![f32::NAN; arg.len()]),
        };
        Self { values, written: false }
    }

    /// Forgets the last run: what no launch writes reads as NaN.
    pub(super) fn poison(&mut self) {
        self.written = false;
        match &mut self.values {
            Values::Bf16(values) => values.fill(bf16::NAN),
            Values::F32(values) => values.fill(f32::NAN),
        }
    }
}

impl Values {
    /// Where a launch writes them.
    pub(super) fn output(&mut self) -> Output<'_> {
        match self {
            Self::Bf16(values) => Output::Bf16(values),
            Self::F32(values) => Output::F32(values),
        }
    }

    /// A copy of them.
    pub(super) fn tensor(&self, arg: &Arg) -> Tensor {
        let data = match self {
            Self::Bf16(values) => TensorData::Bf16(values.as_slice().into()),
            Self::F32(values) => TensorData::F32(values.as_slice().into()),
        };
        Tensor::from_parts(arg.shape.clone(), data)
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::Bf16(Vec::new())
    }
}

/// How the launches of a program use a static buffer.
#[derive(Clone, Default)]
pub(super) struct StaticUse {
    /// As the right matrix of a GEMM, quantised in these modes.
    pub(super) packed: Vec<Rounding>,
    /// As it is.
    pub(super) plain: bool,
}

/// A static buffer: written by the host once.
pub(super) struct Static {
    /// Kept only if a launch uses it unpacked: a buffer that serves only as a right matrix is held
    /// packed.
    tensor: Option<Tensor>,
    panels: Vec<(Rounding, Panels)>,
}

impl Static {
    /// Packs `tensor` for the launches that multiply by it.
    pub(super) fn new(usage: &StaticUse, tensor: Tensor, unit: VectorUnit) -> Self {
        let mut panels = Vec::new();
        if let (Some(values), Some(&n)) = (tensor.as_bf16(), tensor.shape().last()) {
            for &rounding in &usage.packed {
                let mut packed = Panels::default();
                packed.pack(unit, rounding, values, n);
                panels.push((rounding, packed));
            }
        }
        Self { tensor: usage.plain.then_some(tensor), panels }
    }
}

/// What a launch reads: something that has been written.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    Input(&'a Tensor),
    Static(&'a Static),
    Device(&'a Values, &'a Arg),
}

impl<'a> Operand<'a> {
    /// As a datapath reads it.
    pub(super) fn read(self) -> datapath::Operand<'a> {
        let (values, panels) = match self {
            Self::Input(tensor) => (tensor.as_bf16(), [].as_slice()),
            Self::Static(buffer) => {
                let values = buffer.tensor.as_ref().and_then(Tensor::as_bf16);
                (values, buffer.panels.as_slice())
            }
            Self::Device(Values::Bf16(values), _) => (Some(values.as_slice()), [].as_slice()),
            Self::Device(Values::F32(_), _) => (None, [].as_slice()),
        };
        datapath::Operand { values, panels }
    }

    /// A copy of it, if it is held as it is.
    pub(super) fn tensor(self) -> Option<Tensor> {
        match self {
            Self::Input(tensor) => Some(tensor.clone()),
            Self::Static(buffer) => buffer.tensor.clone(),
            Self::Device(values, arg) => Some(values.tensor(arg)),
        }
    }
}

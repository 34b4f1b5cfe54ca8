//! What the emulated NPU requires of a kernel's datapath, and what datapaths are built from.
//!
//! A datapath is prepared once, when a program is loaded, and run once for each launch. The parts
//! that several kernels share are here: the vector units of the host, BFP16 and packed matrices,
//! reductions in lanes, the hardware's functions, and how work is spread over threads.

// Portable code must be inlined into the function that enables a vector unit's instructions, or it
// is compiled without them: `vector::Task`.
#![allow(clippy::inline_always)]

mod bfp16;
mod by_rounding;
pub(crate) mod elementwise;
pub(crate) mod exponential;
pub(crate) mod functions;
pub(crate) mod lanes;
pub(crate) mod pack;
mod prepare;
mod scratch;
pub(crate) mod spread;
pub(crate) mod tile;
pub(crate) mod vector;

use half::bf16;

pub(crate) use by_rounding::task_by_rounding;
use pack::Panels;
pub(crate) use prepare::{Prepare, Tables};
pub(crate) use scratch::Scratch;
use vector::VectorUnit;

use crate::rounding::Rounding;

/// A launch that is ready to run on the emulated NPU: a kernel at a shape, under a rounding mode,
/// with the tables that it needs.
pub(crate) trait Datapath: Send {
    /// The mode in which the operand at `position` is quantised and packed, if the kernel reads it
    /// as the right matrix of a BFP16 product. A static buffer is then packed once, when the host
    /// writes it.
    fn packs(&self, position: usize) -> Option<Rounding> {
        let _ = position;
        None
    }

    /// Reads the operands and writes every element of `out`.
    ///
    /// # Errors
    /// [`Unwritten`] if an operand has no values.
    fn run(
        &self,
        unit: VectorUnit,
        operands: Operands<'_>,
        scratch: &mut Scratch,
        out: Output<'_>,
    ) -> Result<(), Unwritten>;
}

/// An operand that has no values to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwritten;

/// What a launch reads.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    /// Its values, if they are bf16 and held as they are.
    pub(crate) values: Option<&'a [bf16]>,
    /// Its values as packed right matrices, by the mode in which they were quantised.
    pub(crate) panels: &'a [(Rounding, Panels)],
}

impl<'a> Operand<'a> {
    /// Its values.
    pub(crate) fn bf16(self) -> Result<&'a [bf16], Unwritten> {
        self.values.ok_or(Unwritten)
    }

    /// The right matrix that was packed when the operand was written.
    pub(crate) fn panels(self, rounding: Rounding) -> Option<&'a Panels> {
        self.panels.iter().find(|(mode, _)| *mode == rounding).map(|(_, panels)| panels)
    }
}

/// All that a launch reads, in the order of the kernel's operands.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a>(pub(crate) &'a [Operand<'a>]);

impl<'a> Operands<'a> {
    /// The values of all operands.
    pub(crate) fn bf16<const N: usize>(self) -> Result<[&'a [bf16]; N], Unwritten> {
        let mut all = [[].as_slice(); N];
        for (position, values) in all.iter_mut().enumerate() {
            *values = self.at(position)?.bf16()?;
        }
        Ok(all)
    }

    /// One operand.
    pub(crate) fn at(self, position: usize) -> Result<Operand<'a>, Unwritten> {
        self.0.get(position).copied().ok_or(Unwritten)
    }
}

/// Where a launch writes.
pub(crate) enum Output<'a> {
    Bf16(&'a mut [bf16]),
    F32(&'a mut [f32]),
}

impl<'a> Output<'a> {
    /// The memory of a kernel whose output is bf16.
    pub(crate) fn bf16(self) -> &'a mut [bf16] {
        match self {
            Self::Bf16(values) => values,
            Self::F32(_) => unreachable!("`Program::check` compares the output with the kernel's"),
        }
    }
}

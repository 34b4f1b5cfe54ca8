//! Programs for AMD NPUs (XDNA2, AIE2P): what they compute, what they should compute, and a device
//! that runs them without the hardware.
//!
//! - A [`Program`] is data: launches of [`Op`]s over positional buffer arguments.
//! - A [`Device`] runs programs. The [`Emulator`] does so on a CPU with the arithmetic of the
//!   silicon, and checks the use of the buffers, which hardware cannot.
//! - [`mod@reference`] computes each op in f32; [`registry`] says how far a kernel may be from it;
//!   [`inputs`] draws inputs to test it with.
//! - [`fidelity`] compares the emulated NPU with what was measured on silicon.

#![deny(unsafe_code)]

#[cfg(test)]
extern crate self as npugate_kernels;

mod datapath;
mod device;
mod dtype;
mod emu;
pub mod fidelity;
pub mod inputs;
mod kernel;
mod kernels;
mod op;
mod program;
pub mod reference;
pub mod registry;
mod rounding;
mod tensor;
#[cfg(test)]
mod testing;
pub mod tiling;
mod toolchain;

pub use datapath::{
    functions::{Bf16Table, Exp2, FunctionError, Functions, Reciprocal, Rsqrt, TableError, Tanh},
    vector::{VectorUnit, VectorUnitError},
};
pub use device::{
    BufferRules, BufferSet, Counters, Device, DeviceError, DeviceInfo, Dispatch, ProgramId,
    RunFailure,
};
pub use dtype::DType;
pub use emu::{Emulator, EmulatorOptions, Substitution, SubstitutionError};
pub use kernel::{Access, Bias, OpError, Operand};
pub use kernels::{
    Add, AttentionLayout, FlashAttention, FlashAttentionTiling, Gelu, Gemm, GemmOutput, GemmTiling,
    Gemv, GemvTiling, LayerNorm, Mask, Mul, RmsNorm, Rope, RopeTiling, SiluMul, Softmax,
};
pub use op::{Kernel, Op, UnknownKernel};
pub use program::{Arg, ArgIndex, Launch, Program, ProgramError, Role, TilingNote};
pub use rounding::Rounding;
pub use tensor::{Tensor, TensorData, TensorError};
pub use tiling::{Tiling, elementwise::ElementwiseTiling, rows::NormTiling};
pub use toolchain::{Toolchain, UnknownToolchain};

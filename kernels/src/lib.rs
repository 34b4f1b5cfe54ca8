//! Programs for AMD NPUs (XDNA2, AIE2P): what they compute, what they should compute, and a device
//! that runs them without the hardware.
//!
//! - A [`Program`] is data: launches of [`Op`]s over positional buffer arguments.
//! - A [`Device`] runs programs. The [`Emulator`] does so on a CPU with the arithmetic of the
//!   silicon, and watches over the buffers as hardware cannot.
//! - [`mod@reference`] computes each op in f32; [`registry`] says how far a kernel may be from it;
//!   [`inputs`] draws what to test it with.
//! - [`fidelity`] compares the emulated NPU with what was measured on silicon.

#![deny(unsafe_code)]

mod device;
mod dtype;
mod emu;
pub mod fidelity;
pub mod inputs;
mod op;
mod program;
pub mod reference;
pub mod registry;
mod rounding;
mod tensor;
pub mod tiling;
mod toolchain;

pub use device::{
    BufferRules, BufferSet, Counters, Device, DeviceError, DeviceInfo, Dispatch, ProgramId,
    RunFailure,
};
pub use dtype::DType;
pub use emu::{
    Bf16Table, Emulator, EmulatorOptions, Exp2, FunctionError, Functions, Reciprocal, Rsqrt,
    Substitution, SubstitutionError, TableError, Tanh, VectorUnit, VectorUnitError,
};
pub use op::{
    Access, Add, AttentionLayout, FlashAttention, Gelu, Gemm, GemmOutput, Gemv, Kernel, LayerNorm,
    Mask, Op, OpError, Operand, RmsNorm, Rope, SiluMul, Softmax, UnknownKernel,
};
pub use program::{Arg, ArgIndex, Launch, Program, ProgramError, Role, TilingNote};
pub use rounding::Rounding;
pub use tensor::{Tensor, TensorData, TensorError};
pub use tiling::{
    ElementwiseTiling, FlashAttentionTiling, GemmTiling, GemvTiling, NormTiling, RopeTiling, Tiling,
};
pub use toolchain::{Toolchain, UnknownToolchain};

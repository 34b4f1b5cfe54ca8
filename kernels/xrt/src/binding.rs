//! The shim in safe types. An object keeps alive what it was made from, so that buffers and runs
//! are freed before their kernel, the kernel before its context, and the device last.

mod abi;
mod buffer;
mod context;
mod deadline;
mod device;
mod handle;
mod kernel;
mod library;
mod program;
mod run;
mod shim;
mod version;

pub use buffer::Buffer;
pub use context::Context;
pub use deadline::Deadline;
pub use device::{Device, Generation, UnknownGeneration};
pub use kernel::Kernel;
pub use library::Library;
pub use program::{Elf, InstructionUnit, Instructions, KernelEntry, Platform, Program, Xclbin};
pub use run::{Run, RunState};
pub use version::{InvalidVersion, XrtVersion};

//! A double of `npugate-xrt`'s shim, in memory: the same C functions, without XRT or a device.
//!
//! Tests load the shared library instead of the shim ([`path`]). It reads programs that
//! [`ProgramFile`] writes, keeps the host's view of a buffer apart from the device's until they are
//! synced, and computes with a function of the test ([`Mock::set_compute`]). Without one, the last
//! buffer becomes the sum of the others, as words of four bytes. [`Mock::fail`] sets the faults of
//! a thread, and `NPUGATE_MOCK_FAIL` those of a whole process: see [`Fault`].
//!
//! It proves nothing about XRT or hardware: the name of its device says "fake".

#![deny(unsafe_code)]

mod compute;
mod exports;
mod fault;
mod file;
mod log;
mod memory;
mod mock;

pub use compute::{Call, State};
pub use fault::{FAIL_VAR, Fault, InvalidFault};
pub use file::{Format, ProgramFile};
pub use mock::{Mock, NotBuilt, path};

/// The name of the mock's only device.
pub const DEVICE_NAME: &str = "RyzenAI-npu4 (fake)";

/// The number of contexts of an open device: that of npu2.
pub const CONTEXTS: usize = 16;

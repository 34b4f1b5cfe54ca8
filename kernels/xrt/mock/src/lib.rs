//! A double of `npugate-xrt`'s shim, in memory: the same C functions, without XRT or a device.
//!
//! Tests load the shared library in the shim's place ([`path`]). It reads programs that
//! [`ProgramFile`] writes, keeps what the host sees of a buffer apart from what the device sees
//! until they are synced, and computes with a function that the test gives
//! ([`Mock::set_compute`]); without one, the last buffer becomes the sum of the others, as words of
//! four bytes. Failures are ordered with [`Mock::fail`], or for a whole process with
//! `NPUGATE_MOCK_FAIL`: see [`Fault`].
//!
//! It says nothing of XRT or of hardware: its device is called fake.

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

/// How many contexts one open device has: as many as npu2.
pub const CONTEXTS: usize = 16;

//! AMD NPUs through XRT, AMD's runtime library.
//!
//! XRT is a C++ library. A small [shim](SHIM_NAME) gives it a flat C interface. This crate loads
//! the shim at run time, so it builds and runs on machines without XRT, where [`Library::open`]
//! says what is missing. [`setup`] builds the shim on a machine that has XRT.
//!
//! - A [`Library`] opens [`Device`]s and reads [`Program`]s.
//! - A [`Context`] is a program on a device; its [`Kernel`]s take [`Buffer`]s.
//! - A [`Run`] is one command.
//! - An [`XrtDevice`] is an [`npugate_kernels::Device`] on top of these, which runs the compiled
//!   programs of a [`deployment`].
//! - Every [`Error`] says what to do next.

#![deny(unsafe_code)]

mod binding;
pub mod deployment;
mod device;
mod error;
pub mod presence;
mod query;
pub mod setup;

pub use binding::{
    Buffer, Context, Deadline, Device, Elf, Generation, InstructionUnit, Instructions,
    InvalidVersion, Kernel, KernelEntry, Library, Platform, Program, Run, RunState,
    UnknownGeneration, Xclbin, XrtVersion,
};
pub use device::{
    DEADLINE_VAR, InvalidDeadline, MismatchError, RunDeadline, XrtDevice, XrtOptions,
};
pub use error::{Error, Failure, Report};
pub use query::{
    DriverInterface, InvalidInterface, PowerMode, UnknownPowerMode, driver_interface, power_mode,
};

/// The file name of the shim.
pub const SHIM_NAME: &str = "libnpugate_xrt.so.1";

/// The environment variable that names a shim to load instead of the one that setup built.
pub const SHIM_VAR: &str = "NPUGATE_XRT_SHIM";

/// The oldest XRT that the shim compiles against: older ones do not report why a run failed.
pub const MINIMUM_XRT: XrtVersion = XrtVersion::new(2, 20, 0);

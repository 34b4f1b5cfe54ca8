//! A test double of the amdxdna kernel driver: the unmodified XRT libraries run on it, without an
//! NPU.
//!
//! When it is preloaded (`LD_PRELOAD`), it stands in for `/dev/accel/accel0` and the sysfs folders
//! of an NPU, and runs submitted commands on the project's own emulated NPU. It tests the use of
//! XRT: calls, their order, flags and group ids, packets, lifetimes, and the handling of errors. It
//! proves nothing about AIE code, timing, DMA, cache coherence or firmware, and its device name
//! says "fake".
//!
//! # What a run computes
//! A fixture carries a [key](npugate_xrt_fixtures::Key): an xclbin in its PDI, an ELF in its
//! control code. The folder that `FAKE_XDNA_PROGRAMS` names contains `KEY.json`, an
//! `npugate_kernels::Program` whose arguments are the buffers of the run, by position. Without a
//! key, a run adds two vectors of 1024 words.
//!
//! # Faults
//! Environment variables request them: see [`faults`].
#![cfg(target_os = "linux")]

mod buffers;
mod client;
mod command;
mod contexts;
mod device;
mod faults;
mod interpose;
mod ioctl;
mod log;
mod mappings;
mod memory;
mod packet;
mod programs;
mod queries;
mod sysfs;
mod transaction;
mod uapi;
mod user;
mod window;

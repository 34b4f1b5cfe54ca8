//! A program on a device.

#![expect(unsafe_code, reason = "calls the shim")]

use std::sync::Arc;

use super::{Device, Kernel, Program, abi::NpgContext, handle::Handle};
use crate::Error;

/// A program on a device. It occupies columns of the array as long as it lives. Clones are the same
/// context.
#[derive(Clone, Debug)]
pub struct Context {
    open: Arc<Open>,
}

/// Fields are dropped in this order: the context before what it was made from.
#[derive(Debug)]
struct Open {
    handle: Handle<NpgContext>,
    program: Program,
    device: Device,
}

impl Context {
    pub(super) fn open(device: &Device, program: &Program) -> Result<Self, Error> {
        let shim = device.handle().shim();
        let device_handle = device.handle().get();
        let handle = match program {
            Program::Elf(elf) => Handle::make(shim, "context_open_elf", |functions, out, error| {
                // SAFETY: both handles live, and `out` and `error` are valid for writes.
                unsafe {
                    (functions.npg_context_open_elf)(device_handle, elf.handle().get(), out, error)
                }
            }),
            Program::Xclbin { xclbin, .. } => {
                Handle::make(shim, "context_open_xclbin", |functions, out, error| {
                    let xclbin = xclbin.handle().get();
                    // SAFETY: as above.
                    unsafe {
                        (functions.npg_context_open_xclbin)(device_handle, xclbin, out, error)
                    }
                })
            }
        }?;
        let open = Open { handle, program: program.clone(), device: device.clone() };
        Ok(Self { open: Arc::new(open) })
    }

    /// The device that the context is on.
    pub fn device(&self) -> &Device {
        &self.open.device
    }

    /// The program of the context.
    pub fn program(&self) -> &Program {
        &self.open.program
    }

    /// Opens a kernel by its name: of an ELF, `kernel:instance`, such as `main:design`.
    ///
    /// # Errors
    /// If the program has no such kernel, or the instructions of an xclbin cannot be copied to the
    /// device.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        Kernel::open(self, name)
    }

    pub(super) fn handle(&self) -> &Handle<NpgContext> {
        &self.open.handle
    }
}

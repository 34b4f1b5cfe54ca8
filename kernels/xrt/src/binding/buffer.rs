//! Memory that the host and the device share.

#![expect(unsafe_code, reason = "calls the shim, and copies to and from memory that it mapped")]

use std::{
    ptr,
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

use super::{Device, abi::NpgBuffer, handle::Handle};
use crate::Error;

/// The kind of memory that a buffer is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BufferKind {
    /// Data of an xclbin's kernel.
    HostOnly {
        /// The memory group of the argument.
        group: u32,
    },
    /// Instructions of an xclbin's kernel.
    Cacheable {
        /// The memory group of the argument.
        group: u32,
    },
    /// Data of an ELF's kernel.
    Ext,
}

impl BufferKind {
    /// `npg_buffer_kind`, and the group.
    const fn raw(self) -> (i32, u32) {
        match self {
            Self::HostOnly { group } => (0, group),
            Self::Cacheable { group } => (1, group),
            Self::Ext => (2, 0),
        }
    }
}

/// Memory that the host and the device share. Clones are the same memory.
///
/// The device sees what the host wrote after [`sync_to_device`](Self::sync_to_device); the host
/// sees what the device wrote after [`sync_from_device`](Self::sync_from_device).
#[derive(Clone, Debug)]
pub struct Buffer {
    memory: Arc<Memory>,
}

/// Fields are dropped in this order: the memory before the device.
#[derive(Debug)]
struct Memory {
    mapped: Mutex<Mapped>,
    handle: Handle<NpgBuffer>,
    size: usize,
    _device: Device,
}

/// The memory in the host's address space. Whoever holds the lock may copy to and from it. It is
/// never lent out, because the device writes to it behind Rust's back.
#[derive(Debug)]
struct Mapped(NonNull<u8>);

// SAFETY: the memory is not tied to a thread.
unsafe impl Send for Mapped {}

/// The direction of a sync: `npg_direction`.
#[derive(Clone, Copy)]
enum Direction {
    ToDevice = 0,
    FromDevice = 1,
}

impl Buffer {
    pub(super) fn new(device: &Device, bytes: usize, kind: BufferKind) -> Result<Self, Error> {
        let shim = device.handle().shim();
        let (kind, group) = kind.raw();
        let handle = Handle::make(shim, "buffer_new", |functions, out, error| {
            let device = device.handle().get();
            // SAFETY: the device lives, and `out` and `error` are valid for writes.
            unsafe { (functions.npg_buffer_new)(device, bytes, kind, group, out, error) }
        })?;
        let (mut size, mut mapped) = (0, ptr::null_mut());
        shim.call("buffer_size", |functions, error| {
            // SAFETY: the handle lives, and the pointers are to locals of the declared types.
            unsafe { (functions.npg_buffer_size)(handle.get(), &raw mut size, error) }
        })?;
        if size < bytes {
            return Err(Error::Contract {
                message: format!("a buffer of {bytes} bytes has {size}"),
            });
        }
        shim.call("buffer_map", |functions, error| {
            // SAFETY: as above.
            unsafe { (functions.npg_buffer_map)(handle.get(), &raw mut mapped, error) }
        })?;
        let mapped = NonNull::new(mapped.cast())
            .ok_or_else(|| Error::Contract { message: "a buffer is mapped nowhere".to_owned() })?;
        let mapped = Mutex::new(Mapped(mapped));
        let memory = Memory { mapped, handle, size: bytes, _device: device.clone() };
        Ok(Self { memory: Arc::new(memory) })
    }

    /// The size in bytes, as requested.
    pub fn size(&self) -> usize {
        self.memory.size
    }

    /// Copies `bytes` into the buffer, starting at `offset`.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        self.check(offset, bytes.len())?;
        let mapped = self.memory.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the range is within the mapping, which lives as long as the handle; no
        // reference to it exists anywhere, and the lock keeps other threads of the host out.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.0.as_ptr().add(offset), bytes.len());
        }
        Ok(())
    }

    /// Fills `bytes` from the buffer, starting at `offset`.
    ///
    /// # Errors
    /// If the buffer ends before `bytes` is full.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.check(offset, bytes.len())?;
        let mapped = self.memory.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `write`.
        unsafe {
            ptr::copy_nonoverlapping(
                mapped.0.as_ptr().add(offset),
                bytes.as_mut_ptr(),
                bytes.len(),
            );
        }
        Ok(())
    }

    /// Makes what the host wrote visible to the device.
    ///
    /// # Errors
    /// If XRT fails.
    pub fn sync_to_device(&self) -> Result<(), Error> {
        self.sync(Direction::ToDevice)
    }

    /// Makes what the device wrote visible to the host.
    ///
    /// # Errors
    /// If XRT fails.
    pub fn sync_from_device(&self) -> Result<(), Error> {
        self.sync(Direction::FromDevice)
    }

    fn sync(&self, direction: Direction) -> Result<(), Error> {
        // A sync writes the host's caches back or drops them: nothing may be copied meanwhile.
        let _mapped = self.memory.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = self.handle();
        handle.shim().call("buffer_sync", |functions, error| {
            // SAFETY: the handle lives, and the range is the whole buffer.
            unsafe {
                (functions.npg_buffer_sync)(handle.get(), direction as i32, 0, self.size(), error)
            }
        })
    }

    fn check(&self, offset: usize, len: usize) -> Result<(), Error> {
        let size = self.size();
        match offset.checked_add(len) {
            Some(end) if end <= size => Ok(()),
            _ => Err(Error::OutOfRange { offset, len, size }),
        }
    }

    pub(super) fn handle(&self) -> &Handle<NpgBuffer> {
        &self.memory.handle
    }
}

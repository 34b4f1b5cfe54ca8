//! The memory behind a device's file descriptor.
//!
//! The descriptor is a sparse memfd, and a buffer's map offset is its offset in it. So XRT's own
//! `mmap` works unchanged, and the fake sees the same memory through a mapping of its own.

use std::ptr;

use libc::c_int;

use crate::uapi::Errno;

/// The size of the window in bytes; untouched memory costs nothing.
pub const SPAN: u64 = 1 << 38;

/// A mapping of the whole memfd.
pub struct Window {
    fd: c_int,
    base: *mut u8,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only used under the device's
// lock.
unsafe impl Send for Window {}

impl Window {
    /// A new memfd with its mapping; the descriptor belongs to the caller.
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: the name is constant and zero-terminated.
        let fd = unsafe { libc::memfd_create(c"fake-amdxdna".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(last_error());
        }
        // SAFETY: the descriptor is our own, and the new mapping replaces none.
        let base = unsafe {
            if libc::ftruncate(fd, SPAN as i64) != 0 {
                libc::MAP_FAILED
            } else {
                libc::mmap(
                    ptr::null_mut(),
                    SPAN as usize,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                    fd,
                    0,
                )
            }
        };
        if base == libc::MAP_FAILED {
            let error = last_error();
            // SAFETY: the descriptor made above.
            unsafe { libc::close(fd) };
            return Err(error);
        }
        Ok(Self { fd, base: base.cast() })
    }

    /// The descriptor.
    pub fn fd(&self) -> c_int {
        self.fd
    }

    /// The bytes at `offset`, unless they go past the end.
    pub fn read(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        let from = self.at(offset, len)?;
        // SAFETY: `at` has checked the range. No other process has it; a thread that writes to it
        // while the device reads is a race on hardware too.
        unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), len) };
        Some(bytes)
    }

    /// Writes bytes at `offset`, unless they go past the end.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Option<()> {
        let to = self.at(offset, bytes.len())?;
        // SAFETY: as in `read`.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Some(())
    }

    /// Returns the memory of a range to the system, after which it reads as zeros.
    pub fn discard(&self, offset: u64, len: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a system call on our own descriptor; if it fails, the memory merely stays.
        unsafe { libc::fallocate(self.fd, mode, offset as i64, len as i64) };
    }

    fn at(&self, offset: u64, len: usize) -> Option<*mut u8> {
        let end = offset.checked_add(len as u64)?;
        // SAFETY: within the mapping, as the comparison says.
        (end <= SPAN).then(|| unsafe { self.base.add(offset as usize) })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new`, and nothing else refers to it.
        unsafe { libc::munmap(self.base.cast(), SPAN as usize) };
    }
}

/// The error of the last system call.
pub fn last_error() -> Errno {
    Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

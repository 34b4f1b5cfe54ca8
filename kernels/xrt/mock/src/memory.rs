//! The memory of a buffer, as the host and as the device sees it.

#![expect(unsafe_code, reason = "the host's side is written through a pointer that it was given")]

use std::{
    ptr,
    sync::{Mutex, PoisonError},
};

/// What the device sees of memory that was never synced to it.
const UNSYNCED: u8 = 0xa5;

/// A buffer's memory, twice: hosts and devices see each other's writes after a sync alone.
pub(crate) struct Memory {
    host: *mut [u8],
    device: Mutex<Vec<u8>>,
}

// SAFETY: the pointer is to memory of this object's own; the host's side is synchronised by the
// host, as memory that XRT mapped is.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(size: usize) -> Self {
        let host = Box::into_raw(vec![0; size].into_boxed_slice());
        Self { host, device: Mutex::new(vec![UNSYNCED; size]) }
    }

    pub(crate) fn size(&self) -> usize {
        self.host.len()
    }

    /// Where the host may read and write.
    pub(crate) fn host(&self) -> *mut u8 {
        self.host.cast()
    }

    /// Copies the host's side to the device's, from `offset` on; false if the range is not there.
    pub(crate) fn to_device(&self, offset: usize, size: usize) -> bool {
        self.with_device(|device| {
            let range = offset.checked_add(size).and_then(|end| device.get_mut(offset..end));
            // SAFETY: the range is within both sides, which are of one size and apart.
            range.map(|to| unsafe {
                ptr::copy_nonoverlapping(self.host().add(offset), to.as_mut_ptr(), size);
            })
        })
        .is_some()
    }

    /// Copies the device's side to the host's, from `offset` on; false if the range is not there.
    pub(crate) fn to_host(&self, offset: usize, size: usize) -> bool {
        self.with_device(|device| {
            let range = offset.checked_add(size).and_then(|end| device.get(offset..end));
            // SAFETY: as in `to_device`.
            range.map(|from| unsafe {
                ptr::copy_nonoverlapping(from.as_ptr(), self.host().add(offset), size);
            })
        })
        .is_some()
    }

    /// The device's side.
    pub(crate) fn with_device<T>(&self, f: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        f(&mut self.device.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`, and freed here alone.
        drop(unsafe { Box::from_raw(self.host) });
    }
}

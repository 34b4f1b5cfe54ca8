//! The memory of a buffer, as the host and as the device see it.

#![expect(unsafe_code, reason = "the host's side is written through a pointer that it was given")]

use std::{
    ptr,
    sync::{Mutex, PoisonError},
};

/// The byte that the device sees in memory that was never synced to it.
const UNSYNCED: u8 = 0xa5;

/// Two copies of a buffer's memory: host and device see each other's writes only after a sync.
pub(crate) struct Memory {
    host: *mut [u8],
    device: Mutex<Vec<u8>>,
}

// SAFETY: the pointer is to memory that this object owns; the host synchronises its accesses, as it
// does for memory that XRT maps.
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

    /// The memory that the host may read and write.
    pub(crate) fn host(&self) -> *mut u8 {
        self.host.cast()
    }

    /// Copies a range from the host's side to the device's; false if the range is not within the
    /// buffer.
    pub(crate) fn to_device(&self, offset: usize, size: usize) -> bool {
        self.with_device(|device| {
            let range = offset.checked_add(size).and_then(|end| device.get_mut(offset..end));
            // SAFETY: the range is within both sides, which have one size and do not overlap.
            range.map(|to| unsafe {
                ptr::copy_nonoverlapping(self.host().add(offset), to.as_mut_ptr(), size);
            })
        })
        .is_some()
    }

    /// Copies a range from the device's side to the host's; false if the range is not within the
    /// buffer.
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
        // SAFETY: made by `Box::into_raw` in `new`, and freed only here.
        drop(unsafe { Box::from_raw(self.host) });
    }
}

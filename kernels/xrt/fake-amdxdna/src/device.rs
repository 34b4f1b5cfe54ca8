//! The device, which all opens in this process share.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError, RwLock},
};

use libc::c_int;

use crate::{client::Client, faults, log, programs::Programs, uapi::Errno};

/// What the clients of a process share.
#[derive(Default)]
pub struct Device {
    pub clients: BTreeMap<c_int, Client>,
    pub programs: Programs,
    /// The number of commands that were run.
    pub commands: u64,
    pub power_mode: u8,
}

static DEVICE: Mutex<Option<Device>> = Mutex::new(None);

/// The descriptors of [`DEVICE`], apart from it: other calls, such as those in threads of the
/// emulated NPU, must check whether a descriptor is ours while one call holds the device.
static DESCRIPTORS: RwLock<Vec<c_int>> = RwLock::new(Vec::new());

/// Runs `f` with exclusive access to the device.
pub fn with<T>(f: impl FnOnce(&mut Device) -> T) -> T {
    let mut guard: MutexGuard<'_, _> = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_with(Device::default))
}

/// Whether a descriptor belongs to the device.
pub fn is_ours(fd: c_int) -> bool {
    fd >= 0 && DESCRIPTORS.read().unwrap_or_else(PoisonError::into_inner).contains(&fd)
}

/// Opens the device and returns its descriptor.
///
/// # Errors
/// The errno that a fault sets; `EINVAL` if the faults in the environment are not valid.
pub fn open() -> Result<c_int, Errno> {
    let faults = faults::get().map_err(|why| {
        log::complain(format_args!("{why}"));
        Errno::INVAL
    })?;
    if let Some(errno) = faults.open {
        return Err(errno);
    }
    let client = Client::new()?;
    let fd = client.memory.window.fd();
    with(|device| device.clients.insert(fd, client));
    DESCRIPTORS.write().unwrap_or_else(PoisonError::into_inner).push(fd);
    log::trace(format_args!("open: descriptor {fd}"));
    Ok(fd)
}

/// Removes a descriptor that is about to be closed.
pub fn close(fd: c_int) {
    DESCRIPTORS.write().unwrap_or_else(PoisonError::into_inner).retain(|&open| open != fd);
    // Dropped after the lock: its mapping is large.
    let client = with(|device| device.clients.remove(&fd));
    drop(client);
    log::trace(format_args!("close: descriptor {fd}"));
}

/// Records a mapping of the device's memory.
pub fn note_mapping(fd: c_int, address: u64, len: u64, offset: u64) {
    with(|device| {
        if let Some(client) = device.clients.get_mut(&fd) {
            client.memory.mappings.insert(address, len, offset);
        }
    });
}

/// Whether the process may lock all bytes of its buffers in memory.
pub fn may_lock(fd: c_int) -> bool {
    let limit = faults::get().ok().and_then(|faults| faults.memlock);
    let total = |device: &mut Device| {
        device.clients.get(&fd).map_or(0, |client| client.memory.buffers.total())
    };
    limit.is_none_or(|limit| with(total) <= limit)
}

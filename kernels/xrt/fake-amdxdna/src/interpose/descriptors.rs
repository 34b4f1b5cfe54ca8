//! Functions that take a descriptor: `ioctl`, `mmap`, `close`.

use libc::{c_int, c_ulong, c_void, off64_t, size_t};

use super::{next, set_errno};
use crate::{device, ioctl as calls, uapi::Errno};

/// The letter of DRM's ioctls.
const DRM: c_ulong = b'd' as c_ulong;

type Mmap = unsafe extern "C" fn(*mut c_void, size_t, c_int, c_int, c_int, off64_t) -> *mut c_void;

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    if device::is_ours(fd) && (request >> 8) & 0xff == DRM {
        return match calls::answer(fd, request, arg as u64) {
            Ok(()) => 0,
            Err(errno) => {
                set_errno(errno);
                -1
            }
        };
    }
    let real = next!(c"ioctl", unsafe extern "C" fn(c_int, c_ulong, *mut c_void) -> c_int, -1);
    // SAFETY: the caller's promise.
    unsafe { real(fd, request, arg) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if device::is_ours(fd) {
        device::close(fd);
    }
    let real = next!(c"close", unsafe extern "C" fn(c_int) -> c_int, -1);
    // SAFETY: the caller's promise.
    unsafe { real(fd) }
}

macro_rules! mappers {
    ($($name:ident $symbol:literal;)*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            address: *mut c_void,
            len: size_t,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: off64_t,
        ) -> *mut c_void {
            let real = next!($symbol, Mmap, libc::MAP_FAILED);
            // SAFETY: the caller's promise.
            unsafe { map(real, address, len, protection, flags, fd, offset) }
        }
    )*};
}
mappers! {
    mmap c"mmap";
    mmap64 c"mmap64";
}

/// Maps memory, and records mappings of the device. Nothing is really locked in memory: the limit
/// of a user depends on the machine, and a test sets it by `FAKE_XDNA_MEMLOCK`.
///
/// # Safety
/// As `mmap`.
unsafe fn map(
    real: Mmap,
    address: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    if !device::is_ours(fd) {
        // SAFETY: the caller's promise.
        return unsafe { real(address, len, protection, flags, fd, offset) };
    }
    if flags & libc::MAP_LOCKED != 0 && !device::may_lock(fd) {
        set_errno(Errno::AGAIN);
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's promise; it cannot see that the lock is missing.
    let mapped = unsafe { real(address, len, protection, flags & !libc::MAP_LOCKED, fd, offset) };
    if mapped != libc::MAP_FAILED {
        device::note_mapping(fd, mapped as u64, len as u64, offset as u64);
    }
    mapped
}

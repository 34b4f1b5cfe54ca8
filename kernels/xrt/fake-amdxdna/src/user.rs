//! Memory of the process that an ioctl points to: `copy_from_user` and `copy_to_user`.
//!
//! Like the kernel, this trusts only the address. A process that passes one that it has not mapped
//! gets a segmentation fault here, and `EFAULT` from the kernel.

use std::ptr;

use crate::uapi::{self, Errno};

/// Structures that consist of integers, for which any bytes are a value.
///
/// # Safety
/// Implement it for `repr(C)` structures of integers without padding.
pub unsafe trait Plain: Copy + Default {}

macro_rules! plain {
    ($($name:ident),*) => {$(
        // SAFETY: `repr(C)`, only integers, and padding written out as fields.
        unsafe impl Plain for uapi::$name {}
    )*};
}
plain!(
    CreateHwctx,
    Handle,
    ConfigHwctx,
    CuConfig,
    CreateBo,
    VaTable,
    BoInfo,
    SyncBo,
    ExecCmd,
    WaitCmd,
    Info,
    GetArray,
    TimelineWait,
    Version
);
// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}

/// Reads the first `len` bytes of a structure in the process; the rest becomes zero.
///
/// # Errors
/// `EFAULT` if the address is null.
pub fn read_prefix<T: Plain>(address: u64, len: usize) -> Result<T, Errno> {
    if address == 0 {
        return Err(Errno::FAULT);
    }
    let mut value = T::default();
    let len = len.min(size_of::<T>());
    // SAFETY: the process says that there are `len` bytes at `address`; `T` is plain, and at least
    // as long.
    unsafe { ptr::copy_nonoverlapping(address as *const u8, (&raw mut value).cast(), len) };
    Ok(value)
}

/// Reads a structure in the process.
///
/// # Errors
/// `EFAULT` if the address is null.
pub fn read<T: Plain>(address: u64) -> Result<T, Errno> {
    read_prefix(address, size_of::<T>())
}

/// Reads `count` structures in the process.
///
/// # Errors
/// `EFAULT` if the address is null.
pub fn read_all<T: Plain>(address: u64, count: usize) -> Result<Vec<T>, Errno> {
    (0..count).map(|index| read(address + (index * size_of::<T>()) as u64)).collect()
}

/// Reads bytes in the process.
///
/// # Errors
/// `EFAULT` if the address is null.
pub fn read_bytes(address: u64, len: usize) -> Result<Vec<u8>, Errno> {
    if address == 0 {
        return Err(Errno::FAULT);
    }
    let mut bytes = vec![0; len];
    // SAFETY: the process says that they are at `address`.
    unsafe { ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), len) };
    Ok(bytes)
}

/// Writes the first `len` bytes of a structure to the process.
///
/// # Errors
/// `EFAULT` if the address is null.
pub fn write_prefix<T: Plain>(address: u64, value: &T, len: usize) -> Result<(), Errno> {
    let len = len.min(size_of::<T>());
    // SAFETY: a plain structure is its bytes.
    let bytes = unsafe { std::slice::from_raw_parts(ptr::from_ref(value).cast(), len) };
    write_bytes(address, bytes)
}

/// Writes bytes to the process.
///
/// # Errors
/// `EFAULT` if the address is null.
pub fn write_bytes(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if address == 0 {
        return Err(Errno::FAULT);
    }
    // SAFETY: the process says that it has room for them at `address`.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
    Ok(())
}

//! Functions that take a path: the driver's paths are looked up below the fake's root.

use std::{
    ffi::{CStr, CString},
    os::unix::ffi::OsStringExt,
};

use libc::{c_char, c_int, c_uint, c_void, size_t, ssize_t};

use super::{next, set_errno};
use crate::{device, sysfs};

/// The path to use instead, if the path is one of the driver's.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn redirected(path: *const c_char) -> Option<CString> {
    if path.is_null() {
        return None;
    }
    // SAFETY: not null, so a C string.
    let path = unsafe { CStr::from_ptr(path) };
    CString::new(sysfs::redirect(path.to_bytes())?.into_os_string().into_vec()).ok()
}

/// Whether the path is that of the device node.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn is_node(path: *const c_char) -> bool {
    // SAFETY: as above.
    !path.is_null() && unsafe { CStr::from_ptr(path) }.to_bytes() == sysfs::NODE
}

/// Opens the device instead of the file that was opened, if that succeeded.
fn open_device(opened: c_int) -> c_int {
    if opened < 0 {
        return opened;
    }
    // SAFETY: the caller has just opened the descriptor for this.
    unsafe { libc::close(opened) };
    device::open().unwrap_or_else(|errno| {
        set_errno(errno);
        -1
    })
}

macro_rules! openers {
    ($($name:ident $symbol:literal ($($dir:ident)?);)*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($dir: c_int,)? path: *const c_char, flags: c_int, mode: c_uint,
        ) -> c_int {
            type Open = unsafe extern "C" fn(
                $(openers!(@int $dir),)? *const c_char, c_int, c_uint,
            ) -> c_int;
            let real = next!($symbol, Open, -1);
            // SAFETY: the caller's promise: a C string.
            let (other, node) = unsafe { (redirected(path), is_node(path)) };
            let target = other.as_ref().map_or(path, |other| other.as_ptr());
            // SAFETY: the caller's promise, and a C string that outlives the call.
            let opened = unsafe { real($($dir,)? target, flags, mode) };
            if node { open_device(opened) } else { opened }
        }
    )*};
    (@int $dir:ident) => { c_int };
}
openers! {
    open c"open" ();
    open64 c"open64" ();
    openat c"openat" (dir);
    openat64 c"openat64" (dir);
}

macro_rules! redirect {
    ($($name:ident $symbol:literal ($([$before:ident: $first:ty])? path $(, $arg:ident: $type:ty)*) -> $result:ty, $failure:expr;)*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($before: $first,)? path: *const c_char $(, $arg: $type)*
        ) -> $result {
            type Real = unsafe extern "C" fn($($first,)? *const c_char $(, $type)*) -> $result;
            let real = next!($symbol, Real, $failure);
            // SAFETY: the caller's promise: a C string.
            let other = unsafe { redirected(path) };
            let target = other.as_ref().map_or(path, |other| other.as_ptr());
            // SAFETY: the caller's promise, and a C string that outlives the call.
            unsafe { real($($before,)? target $(, $arg)*) }
        }
    )*};
}
redirect! {
    stat c"stat" (path, out: *mut c_void) -> c_int, -1;
    stat64 c"stat64" (path, out: *mut c_void) -> c_int, -1;
    lstat c"lstat" (path, out: *mut c_void) -> c_int, -1;
    lstat64 c"lstat64" (path, out: *mut c_void) -> c_int, -1;
    fstatat c"fstatat" ([dir: c_int] path, out: *mut c_void, flags: c_int) -> c_int, -1;
    fstatat64 c"fstatat64" ([dir: c_int] path, out: *mut c_void, flags: c_int) -> c_int, -1;
    statx c"statx" ([dir: c_int] path, flags: c_int, mask: c_uint, out: *mut c_void) -> c_int, -1;
    access c"access" (path, mode: c_int) -> c_int, -1;
    faccessat c"faccessat" ([dir: c_int] path, mode: c_int, flags: c_int) -> c_int, -1;
    readlink c"readlink" (path, out: *mut c_char, len: size_t) -> ssize_t, -1;
    readlinkat c"readlinkat" ([dir: c_int] path, out: *mut c_char, len: size_t) -> ssize_t, -1;
    fopen c"fopen" (path, mode: *const c_char) -> *mut c_void, std::ptr::null_mut();
    fopen64 c"fopen64" (path, mode: *const c_char) -> *mut c_void, std::ptr::null_mut();
    opendir c"opendir" (path) -> *mut c_void, std::ptr::null_mut();
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char {
    type Real = unsafe extern "C" fn(*const c_char, *mut c_char) -> *mut c_char;
    let real = next!(c"realpath", Real, std::ptr::null_mut());
    // SAFETY: the caller's promise: a C string.
    let other = unsafe { redirected(path) };
    let target = other.as_ref().map_or(path, |other| other.as_ptr());
    // SAFETY: the caller's promise, and a C string that outlives the call.
    let found = unsafe { real(target, out) };
    if other.is_none() || found.is_null() {
        return found;
    }
    // The process must see the path that it expects, without the fake's root.
    // SAFETY: `realpath` returns a C string.
    let bytes = unsafe { CStr::from_ptr(found) }.to_bytes();
    let root = sysfs::root().map_or(0, |root| {
        let root = root.as_os_str().len();
        if bytes.get(root) == Some(&b'/') { root } else { 0 }
    });
    let rest = bytes.len() - root + 1;
    // SAFETY: moves the rest of the string, with its zero, to the beginning of the same string.
    unsafe { std::ptr::copy(found.add(root), found, rest) };
    found
}

//! The functions of the C library that the fake intercepts.
//!
//! Each handles calls about the device, and passes on all others.

mod descriptors;
mod paths;

use std::sync::atomic::{AtomicUsize, Ordering};

use libc::c_void;

use crate::uapi::Errno;

/// The next definition of a function after the fake's own, looked up once.
pub struct Next {
    name: &'static std::ffi::CStr,
    address: AtomicUsize,
}

impl Next {
    pub const fn new(name: &'static std::ffi::CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// The address of the function, if there is one.
    pub fn get(&self) -> Option<*mut c_void> {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return Some(known as *mut c_void);
        }
        // SAFETY: the name is zero-terminated.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found as usize, Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}

/// Sets `errno`.
pub fn set_errno(errno: Errno) {
    // SAFETY: the C library gives each thread an `errno`.
    unsafe { *libc::__errno_location() = errno.0 };
}

/// The next definition of a function, as a pointer of the given type. Without one, it returns the
/// failure from the calling function.
macro_rules! next {
    ($name:literal, $type:ty, $failure:expr) => {{
        static NEXT: crate::interpose::Next = crate::interpose::Next::new($name);
        match NEXT.get() {
            // SAFETY: the C library defines the function of this name with this type.
            Some(address) => unsafe { std::mem::transmute::<*mut libc::c_void, $type>(address) },
            None => {
                crate::interpose::set_errno(crate::uapi::Errno(libc::ENOSYS));
                return $failure;
            }
        }
    }};
}
pub(crate) use next;

//! An object of the shim that this process owns.

#![expect(unsafe_code, reason = "frees what the shim made, and lets other threads do it")]

use std::{fmt, ptr, ptr::NonNull, sync::Arc};

use super::{
    abi::{self, Functions, RawError},
    shim::Shim,
};
use crate::Error;

/// A type whose objects the shim makes and frees.
pub trait Object {
    /// The function that frees an object.
    fn free(functions: &Functions) -> unsafe extern "C" fn(*mut Self);
}

macro_rules! objects {
    ($($object:ident: $free:ident),* $(,)?) => {$(
        impl Object for abi::$object {
            fn free(functions: &Functions) -> unsafe extern "C" fn(*mut Self) {
                functions.$free
            }
        }
    )*};
}

objects!(
    NpgDevice: npg_device_free,
    NpgElf: npg_elf_free,
    NpgXclbin: npg_xclbin_free,
    NpgContext: npg_context_free,
    NpgKernel: npg_kernel_free,
    NpgBuffer: npg_buffer_free,
    NpgRun: npg_run_free,
);

/// An object of the shim, which is freed when this is dropped.
pub struct Handle<T: Object> {
    pointer: NonNull<T>,
    shim: Arc<Shim>,
}

// SAFETY: XRT's objects are not tied to a thread.
unsafe impl<T: Object> Send for Handle<T> {}
// SAFETY: `Shim::call` makes one call on shared objects at a time; a wait takes its run by `&mut`,
// so that nothing else calls that run meanwhile, and XRT allows the use of other objects during a
// wait.
unsafe impl<T: Object> Sync for Handle<T> {}

impl<T: Object> Handle<T> {
    /// Makes an object with a function of the shim, and takes ownership of it.
    pub fn make(
        shim: &Arc<Shim>,
        name: &'static str,
        call: impl FnOnce(&Functions, *mut *mut T, *mut RawError) -> i32,
    ) -> Result<Self, Error> {
        let mut made = ptr::null_mut();
        shim.call(name, |functions, error| call(functions, &raw mut made, error))?;
        let pointer = NonNull::new(made)
            .ok_or_else(|| Error::Contract { message: format!("{name} made nothing") })?;
        Ok(Self { pointer, shim: Arc::clone(shim) })
    }

    /// The pointer, for a call of the shim while this lives.
    pub fn get(&self) -> *mut T {
        self.pointer.as_ptr()
    }

    /// The shim that made the object.
    pub fn shim(&self) -> &Arc<Shim> {
        &self.shim
    }
}

impl<T: Object> Drop for Handle<T> {
    fn drop(&mut self) {
        let (functions, _guard) = self.shim.lock();
        // SAFETY: the pointer is the shim's own, and nothing uses it after this.
        unsafe { T::free(functions)(self.pointer.as_ptr()) }
    }
}

impl<T: Object> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pointer.fmt(f)
    }
}

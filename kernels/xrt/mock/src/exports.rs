//! The functions of `shim/npugate_xrt.h`.

#![expect(unsafe_code, reason = "functions for C, which take pointers")]

mod buffer;
mod device;
mod kernel;
mod program;
mod run;

use std::{
    ffi::{CStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    fault::{self, Effect},
    log,
};

/// `npg_error`.
#[repr(C)]
pub(crate) struct RawError {
    kind: i32,
    code: i32,
    message: [c_char; 1024],
}

/// Why a call failed.
pub(crate) struct Failed {
    kind: i32,
    code: i32,
    text: String,
}

impl Failed {
    fn system(errno: i32, text: impl Into<String>) -> Self {
        Self { kind: 1, code: errno, text: text.into() }
    }

    fn aie(state: i32, text: impl Into<String>) -> Self {
        Self { kind: 3, code: state, text: text.into() }
    }

    fn exception(text: impl Into<String>) -> Self {
        Self { kind: 4, code: 0, text: text.into() }
    }

    fn host_timeout(state: i32) -> Self {
        Self { kind: 6, code: state, text: "the command is still in progress".to_owned() }
    }

    fn argument(text: impl Into<String>) -> Self {
        Self { kind: 7, code: 0, text: text.into() }
    }
}

/// Does the work of a function, or plays the fault that is set for it.
fn guard(function: &str, error: *mut RawError, body: impl FnOnce() -> Result<(), Failed>) -> i32 {
    let result = match fault::effect(function) {
        Some(Effect::Fail { kind, code, text }) => Err(Failed { kind, code, text }),
        _ => without_faults(body),
    };
    finish(error, result)
}

/// Does the work of a function.
fn without_faults(body: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err(Failed::exception("the mock itself panicked")))
}

/// Reports how a call went.
fn finish(error: *mut RawError, result: Result<(), Failed>) -> i32 {
    let Failed { kind, code, text } = match result {
        Ok(()) => return 0,
        Err(failed) => failed,
    };
    // SAFETY: the caller's error is null or valid for writes.
    if let Some(error) = unsafe { error.as_mut() } {
        error.kind = kind;
        error.code = code;
        let last = error.message.len() - 1;
        error.message.fill(0);
        for (to, from) in error.message[..last].iter_mut().zip(text.bytes()) {
            *to = from.cast_signed();
        }
    }
    kind
}

/// Writes a result through a pointer.
fn put<T>(out: *mut T, value: T) -> Result<(), Failed> {
    if out.is_null() {
        return Err(Failed::argument("the pointer for the result is null"));
    }
    // SAFETY: it is not null, and it is valid for writes, as the header says.
    unsafe { out.write(value) };
    Ok(())
}

/// Hands an object to the caller.
fn give<T>(out: *mut *mut T, value: T) -> Result<(), Failed> {
    put(out, Box::into_raw(Box::new(value)))
}

/// An object that the caller owns.
fn object<'a, T>(pointer: *mut T) -> Result<&'a mut T, Failed> {
    // SAFETY: null, or from `give` and not yet freed; the caller calls one function of an object at
    // a time.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failed::argument("an object is null"))
}

/// Frees an object.
fn free<T>(what: &'static str, pointer: *mut T) {
    if !pointer.is_null() {
        log::freed(what);
        // SAFETY: from `give`, and freed once.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// A name or path.
fn text<'a>(text: *const c_char) -> Result<&'a CStr, Failed> {
    if text.is_null() {
        return Err(Failed::argument("a string is null"));
    }
    // SAFETY: it is not null, and it is zero-terminated, as the header says.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// Writes a text to the caller's buffer, as the header says.
fn put_text(value: &str, text: *mut c_char, size: usize, needed: *mut usize) -> Result<(), Failed> {
    put(needed, value.len() + 1)?;
    let len = value.len().min(size.saturating_sub(1));
    if size > 0 {
        // SAFETY: there are `size` bytes, and `len` is less.
        unsafe {
            text.cast::<u8>().copy_from_nonoverlapping(value.as_ptr(), len);
            text.add(len).write(0);
        }
    }
    Ok(())
}

/// Sets the faults of this thread: see [`Fault`](crate::Fault).
#[unsafe(no_mangle)]
extern "C" fn mock_fail(faults: *const c_char) {
    if let Ok(faults) = text(faults) {
        fault::set(&faults.to_string_lossy());
    }
}

/// Copies out what this thread has freed, and returns the length of that text in bytes.
#[unsafe(no_mangle)]
extern "C" fn mock_take_freed(bytes: *mut u8, size: usize) -> usize {
    let freed = log::take();
    let len = freed.len().min(size);
    // SAFETY: there are `size` bytes.
    unsafe { bytes.copy_from_nonoverlapping(freed.as_ptr(), len) };
    len
}

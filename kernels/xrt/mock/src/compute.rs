//! What a run computes.

#![expect(unsafe_code, reason = "calls a function of the test through a C pointer")]

use std::{
    collections::HashMap,
    ffi::{CStr, OsStr, c_char, c_void},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use crate::memory::Memory;

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Successfully.
    Completed = 4,
    /// With an error.
    Error = 5,
}

/// A run for a test to compute, with the device's view of the buffers.
pub struct Call<'a> {
    /// The file of the program.
    pub program: &'a Path,
    /// The name by which the kernel was opened.
    pub kernel: &'a str,
    request: &'a Request,
}

/// A run, as a C function receives it.
#[repr(C)]
pub struct Request {
    program: *const c_char,
    kernel: *const c_char,
    buffers: *const *const Memory,
    count: usize,
    read: extern "C" fn(*const Memory, *mut u8, usize) -> usize,
    write: extern "C" fn(*const Memory, *const u8, usize) -> usize,
}

/// A function that computes a run, and returns the state in which the run ends.
pub(crate) type Compute =
    unsafe extern "C" fn(context: *mut c_void, request: *const Request) -> i32;

/// Copies up to `size` bytes of the device's view of a buffer, and returns how many there are.
extern "C" fn read(memory: *const Memory, bytes: *mut u8, size: usize) -> usize {
    // SAFETY: the request's maker keeps the memory alive during the call, and `bytes` has `size`
    // bytes.
    unsafe {
        (*memory).with_device(|device| {
            bytes.copy_from_nonoverlapping(device.as_ptr(), size.min(device.len()));
            device.len()
        })
    }
}

/// Writes up to `size` bytes to the device's view of a buffer, and returns how many there are.
extern "C" fn write(memory: *const Memory, bytes: *const u8, size: usize) -> usize {
    // SAFETY: as in `read`.
    unsafe {
        (*memory).with_device(|device| {
            device.as_mut_ptr().copy_from_nonoverlapping(bytes, size.min(device.len()));
            device.len()
        })
    }
}

impl<'a> Call<'a> {
    /// Wraps a request from the mock's shared library.
    ///
    /// # Safety
    /// The request is valid during the call.
    pub(crate) unsafe fn new(request: *const Request) -> Self {
        // SAFETY: the request is valid, and its texts are zero-terminated.
        unsafe {
            let request: &'a Request = &*request;
            let program = OsStr::from_bytes(CStr::from_ptr(request.program).to_bytes());
            let kernel = CStr::from_ptr(request.kernel).to_str().unwrap_or("");
            Self { program: Path::new(program), kernel, request }
        }
    }

    /// The number of buffers.
    pub fn buffers(&self) -> usize {
        self.request.count
    }

    /// The device's view of the buffer at `index`, if there is such a buffer.
    pub fn read(&self, index: usize) -> Option<Vec<u8>> {
        let memory = self.memory(index)?;
        let mut bytes = vec![0; (self.request.read)(memory, [].as_mut_ptr(), 0)];
        (self.request.read)(memory, bytes.as_mut_ptr(), bytes.len());
        Some(bytes)
    }

    /// Writes to the start of the buffer at `index`, as the device. Returns `None` if there is no
    /// such buffer, or if it is too small.
    pub fn write(&self, index: usize, bytes: &[u8]) -> Option<()> {
        let memory = self.memory(index)?;
        if (self.request.read)(memory, [].as_mut_ptr(), 0) < bytes.len() {
            return None;
        }
        (self.request.write)(memory, bytes.as_ptr(), bytes.len());
        Some(())
    }

    fn memory(&self, index: usize) -> Option<*const Memory> {
        // SAFETY: there are `count` pointers.
        (index < self.request.count).then(|| unsafe { *self.request.buffers.add(index) })
    }
}

/// A function of a test, with the context to call it with.
#[derive(Clone, Copy)]
struct Registered {
    compute: Compute,
    context: *mut c_void,
}

// SAFETY: whoever registers a function promises that any thread may call it with its context.
unsafe impl Send for Registered {}

/// The functions by program; the one without a program is for all other programs.
fn registry() -> &'static Mutex<HashMap<Option<PathBuf>, Registered>> {
    static REGISTRY: OnceLock<Mutex<HashMap<Option<PathBuf>, Registered>>> = OnceLock::new();
    REGISTRY.get_or_init(Mutex::default)
}

/// Sets the function that computes the runs of `program`, or, if that is null, of every program
/// that has no function of its own. Without a function, removes the one that was set.
///
/// # Safety
/// `program` is null or zero-terminated. Any thread may call the function with `context` until it
/// is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mock_set_compute(
    program: *const c_char,
    compute: Option<Compute>,
    context: *mut c_void,
) {
    let key = (!program.is_null()).then(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { CStr::from_ptr(program) };
        PathBuf::from(OsStr::from_bytes(program.to_bytes()))
    });
    let mut registry = registry().lock().unwrap_or_else(PoisonError::into_inner);
    match compute {
        Some(compute) => registry.insert(key, Registered { compute, context }),
        None => registry.remove(&key),
    };
}

/// Computes a run, and returns the state in which it ends.
pub(crate) fn compute(program: &CStr, kernel: &CStr, buffers: &[Arc<Memory>]) -> i32 {
    let path = PathBuf::from(OsStr::from_bytes(program.to_bytes()));
    let registered = {
        let registry = registry().lock().unwrap_or_else(PoisonError::into_inner);
        registry.get(&Some(path)).or_else(|| registry.get(&None)).copied()
    };
    let Some(Registered { compute, context }) = registered else {
        return sum(buffers);
    };
    let pointers: Vec<*const Memory> = buffers.iter().map(Arc::as_ptr).collect();
    let request = Request {
        program: program.as_ptr(),
        kernel: kernel.as_ptr(),
        buffers: pointers.as_ptr(),
        count: pointers.len(),
        read,
        write,
    };
    // SAFETY: the request is valid during the call, and the function may be called.
    unsafe { compute(context, &raw const request) }
}

/// The last buffer becomes the sum of the others, as words of four bytes.
fn sum(buffers: &[Arc<Memory>]) -> i32 {
    let Some((output, inputs)) = buffers.split_last() else { return State::Error as i32 };
    let mut sums = vec![0_u32; output.size() / 4];
    for input in inputs {
        input.with_device(|bytes| {
            let (words, _) = bytes.as_chunks::<4>();
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = sum.wrapping_add(u32::from_le_bytes(*word));
            }
        });
    }
    output.with_device(|bytes| {
        let (words, _) = bytes.as_chunks_mut::<4>();
        for (word, sum) in words.iter_mut().zip(sums) {
            *word = sum.to_le_bytes();
        }
    });
    State::Completed as i32
}

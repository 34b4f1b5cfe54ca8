//! Programs and contexts.

use std::{
    ffi::{CStr, CString, OsStr, c_char},
    fs,
    os::unix::ffi::OsStrExt as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{Failed, RawError, device::Device, free, give, guard, object, put, put_text, text};
use crate::{CONTEXTS, Format, ProgramFile};

/// A program that was read; an ELF or an xclbin.
#[derive(Clone)]
pub(super) struct Program {
    pub(super) path: CString,
    pub(super) file: Arc<ProgramFile>,
}

pub(super) struct Context {
    pub(super) program: Program,
    taken: Arc<AtomicUsize>,
}

impl Drop for Context {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The text of a file, or XRT's own message for a missing one.
fn read(path: &CStr, missing: impl FnOnce(&str) -> String) -> Result<String, Failed> {
    let bytes = fs::read(OsStr::from_bytes(path.to_bytes()))
        .map_err(|_| Failed::exception(missing(&path.to_string_lossy())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[unsafe(no_mangle)]
extern "C" fn npg_elf_open(
    path: *const c_char,
    elf: *mut *mut Program,
    error: *mut RawError,
) -> i32 {
    guard("npg_elf_open", error, || {
        let path = text(path)?;
        let no_elf = |path: &str| format!("{path} is not found or is not a valid ELF file");
        let file = ProgramFile::parse(Format::Elf, &read(path, no_elf)?)
            .ok_or_else(|| Failed::exception(no_elf(&path.to_string_lossy())))?;
        give(elf, Program { path: path.to_owned(), file: Arc::new(file) })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_elf_info(
    elf: *mut Program,
    full: *mut i32,
    platform: *mut i32,
    columns: *mut i32,
    error: *mut RawError,
) -> i32 {
    guard("npg_elf_info", error, || {
        let file = &object(elf)?.file;
        // The values of `xrt::elf::platform`.
        if ![69, 70, 64, 75, 86, 105, -1].contains(&file.platform) {
            let text = format!("ELF contains unsupported platform OS/ABI: {}", file.platform);
            return Err(Failed::exception(text));
        }
        put(full, file.full)?;
        put(platform, file.platform)?;
        put(columns, if file.full == 1 { file.columns } else { -1 })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_elf_kernels(
    elf: *mut Program,
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
    error: *mut RawError,
) -> i32 {
    guard("npg_elf_kernels", error, || put_text(&object(elf)?.file.lines(), text, size, needed))
}

#[unsafe(no_mangle)]
extern "C" fn npg_elf_free(elf: *mut Program) {
    free("elf", elf);
}

#[unsafe(no_mangle)]
extern "C" fn npg_xclbin_open(
    path: *const c_char,
    xclbin: *mut *mut Program,
    error: *mut RawError,
) -> i32 {
    guard("npg_xclbin_open", error, || {
        let path = text(path)?;
        let text = read(path, |path| format!("No such file '{path}'"))?;
        // The length of the magic word and the numbers that follow it in a real xclbin.
        if text.len() < 16 {
            return Err(Failed::exception("xclbin: buffer too small to contain header"));
        }
        let file = ProgramFile::parse(Format::Xclbin, &text)
            .ok_or_else(|| Failed::exception("Invalid xclbin"))?;
        give(xclbin, Program { path: path.to_owned(), file: Arc::new(file) })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_xclbin_kernels(
    xclbin: *mut Program,
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
    error: *mut RawError,
) -> i32 {
    guard("npg_xclbin_kernels", error, || {
        put_text(&object(xclbin)?.file.lines(), text, size, needed)
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_xclbin_free(xclbin: *mut Program) {
    free("xclbin", xclbin);
}

/// Takes one of the device's contexts.
fn open(device: *mut Device, program: &Program, context: *mut *mut Context) -> Result<(), Failed> {
    let taken = Arc::clone(&object(device)?.contexts);
    if taken.fetch_add(1, Ordering::Relaxed) >= CONTEXTS {
        taken.fetch_sub(1, Ordering::Relaxed);
        return Err(Failed::system(
            2,
            "DRM_IOCTL_AMDXDNA_CREATE_HWCTX IOCTL failed (err=-2): No such file or directory",
        ));
    }
    give(context, Context { program: program.clone(), taken })
}

#[unsafe(no_mangle)]
extern "C" fn npg_context_open_elf(
    device: *mut Device,
    elf: *mut Program,
    context: *mut *mut Context,
    error: *mut RawError,
) -> i32 {
    guard("npg_context_open_elf", error, || {
        let elf = object(elf)?;
        if elf.file.full != 1 {
            return Err(Failed::exception("ELF is missing xrt configuration info"));
        }
        open(device, elf, context)
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_context_open_xclbin(
    device: *mut Device,
    xclbin: *mut Program,
    context: *mut *mut Context,
    error: *mut RawError,
) -> i32 {
    guard("npg_context_open_xclbin", error, || {
        let xclbin = object(xclbin)?;
        if xclbin.file.kernels.is_empty() {
            let text = "No valid DPU kernel found in xclbin (err=22): Invalid argument";
            return Err(Failed::system(22, text));
        }
        open(device, xclbin, context)
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_context_free(context: *mut Context) {
    free("context", context);
}

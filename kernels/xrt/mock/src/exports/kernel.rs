//! Kernels.

use std::ffi::{CString, c_char};

use super::{
    Failed, RawError, free, give, guard, object,
    program::{Context, Program},
    put, text,
};
use crate::Format;

/// The memory of an xclbin's data, in the context's slot, as XRT 2.25 numbers it.
const DATA_GROUP: i32 = 0x2_0000;

/// The memory of its instructions.
const INSTRUCTIONS_GROUP: i32 = 0x2_0001;

#[derive(Clone)]
pub(super) struct Kernel {
    pub(super) program: Program,
    pub(super) name: CString,
    pub(super) args: i32,
}

#[unsafe(no_mangle)]
extern "C" fn npg_kernel_open(
    context: *mut Context,
    name: *const c_char,
    kernel: *mut *mut Kernel,
    error: *mut RawError,
) -> i32 {
    guard("npg_kernel_open", error, || {
        let program = &object(context)?.program;
        let name = text(name)?;
        let called = name.to_string_lossy();
        let kernels = &program.file.kernels;
        let args = match program.file.format {
            Format::Elf => kernels
                .iter()
                .find(|(name, _, instances)| {
                    called.split_once(':').is_some_and(|(kernel, instance)| {
                        kernel == name && instances.iter().any(|one| one == instance)
                    })
                })
                .map(|(_, args, _)| *args)
                .ok_or_else(|| {
                    let text = format!("Unable to find group idx for given kernel: {called}");
                    Failed::exception(text)
                }),
            Format::Xclbin => kernels
                .iter()
                .find(|(name, ..)| *name == called)
                .map(|(_, args, _)| *args)
                .ok_or_else(|| {
                    Failed::system(22, format!("No such kernel '{called}': Invalid argument"))
                }),
        }?;
        give(kernel, Kernel { program: program.clone(), name: name.to_owned(), args })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_kernel_args(kernel: *mut Kernel, count: *mut i32, error: *mut RawError) -> i32 {
    guard("npg_kernel_args", error, || put(count, object(kernel)?.args))
}

#[unsafe(no_mangle)]
extern "C" fn npg_kernel_group(
    kernel: *mut Kernel,
    arg: i32,
    group: *mut i32,
    error: *mut RawError,
) -> i32 {
    guard("npg_kernel_group", error, || {
        let args = object(kernel)?.args;
        check_arg(arg, args)?;
        put(group, if arg == 1 { INSTRUCTIONS_GROUP } else { DATA_GROUP })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_kernel_free(kernel: *mut Kernel) {
    free("kernel", kernel);
}

/// Refuses an argument that the kernel does not take, as the shim does.
pub(super) fn check_arg(arg: i32, args: i32) -> Result<(), Failed> {
    if arg < 0 || (args >= 0 && arg >= args) {
        let text = format!("there is no argument {arg}; the kernel takes {args}");
        return Err(Failed::argument(text));
    }
    Ok(())
}

//! The shim's C interface, declared once: the same lines generate the functions that are loaded at
//! run time and those that the `link-xrt` feature links.

#![expect(unsafe_code, reason = "declarations of C functions, and loading them")]

use std::ffi::{c_char, c_void};

/// The version of the interface: `NPG_ABI` of `shim/npugate_xrt.h`.
pub const ABI: u32 = 2;

/// The size of `npg_error::message` in bytes.
pub const MESSAGE: usize = 1024;

/// `npg_error`.
#[repr(C)]
pub struct RawError {
    /// `npg_error_kind`.
    pub kind: i32,
    /// An errno or the state of a command, depending on the kind.
    pub code: i32,
    /// Zero-terminated text.
    pub message: [c_char; MESSAGE],
}

impl RawError {
    /// An empty error, for a function to fill in.
    pub const fn new() -> Self {
        Self { kind: 0, code: 0, message: [0; MESSAGE] }
    }
}

/// Types that only the shim can see into.
macro_rules! handles {
    ($($name:ident),* $(,)?) => {$(
        #[doc = concat!("The shim's `", stringify!($name), "`.")]
        #[repr(C)]
        pub struct $name {
            opaque: [u8; 0],
        }
    )*};
}

handles!(NpgDevice, NpgElf, NpgXclbin, NpgContext, NpgKernel, NpgBuffer, NpgRun);

/// Declares the functions: as fields of [`Functions`], and as what `link-xrt` links.
macro_rules! functions {
    ($($name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        /// The shim's functions.
        #[derive(Clone, Copy)]
        pub struct Functions {
            $(
                #[doc = concat!("`", stringify!($name), "` of `shim/npugate_xrt.h`.")]
                pub $name: unsafe extern "C" fn($($type),*) $(-> $out)?,
            )*
        }

        #[cfg(feature = "link-xrt")]
        mod linked {
            use super::*;

            unsafe extern "C" {
                $(pub fn $name($($arg: $type),*) $(-> $out)?;)*
            }
        }

        impl Functions {
            /// The linked functions.
            #[cfg(feature = "link-xrt")]
            pub const fn linked() -> Self {
                Self { $($name: linked::$name,)* }
            }

            /// The functions of `library`, which may be called as long as it is loaded.
            ///
            /// # Errors
            /// If a function is missing.
            pub fn load(library: &libloading::Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $(
                        // SAFETY: a library with this symbol is the shim, whose header declares
                        // it with these types; `Shim::load` compares the versions of the interface
                        // before it calls anything but `npg_abi`.
                        $name: *unsafe {
                            library.get::<unsafe extern "C" fn($($type),*) $(-> $out)?>(
                                stringify!($name),
                            )
                        }?,
                    )*
                })
            }
        }
    };
}

type Error = *mut RawError;

functions! {
    npg_abi() -> u32;
    npg_version(built: *mut u32, loaded: *mut u32, patch: *mut u32, error: Error) -> i32;

    npg_device_count(count: *mut u32, error: Error) -> i32;
    npg_device_open(index: u32, device: *mut *mut NpgDevice, error: Error) -> i32;
    npg_device_text(device: *mut NpgDevice, key: i32, text: *mut c_char, size: usize, needed: *mut usize, error: Error) -> i32;
    npg_device_free(device: *mut NpgDevice);

    npg_elf_open(path: *const c_char, elf: *mut *mut NpgElf, error: Error) -> i32;
    npg_elf_info(elf: *mut NpgElf, full: *mut i32, platform: *mut i32, columns: *mut i32, error: Error) -> i32;
    npg_elf_kernels(elf: *mut NpgElf, text: *mut c_char, size: usize, needed: *mut usize, error: Error) -> i32;
    npg_elf_free(elf: *mut NpgElf);

    npg_xclbin_open(path: *const c_char, xclbin: *mut *mut NpgXclbin, error: Error) -> i32;
    npg_xclbin_kernels(xclbin: *mut NpgXclbin, text: *mut c_char, size: usize, needed: *mut usize, error: Error) -> i32;
    npg_xclbin_free(xclbin: *mut NpgXclbin);

    npg_context_open_elf(device: *mut NpgDevice, elf: *mut NpgElf, context: *mut *mut NpgContext, error: Error) -> i32;
    npg_context_open_xclbin(device: *mut NpgDevice, xclbin: *mut NpgXclbin, context: *mut *mut NpgContext, error: Error) -> i32;
    npg_context_free(context: *mut NpgContext);

    npg_kernel_open(context: *mut NpgContext, name: *const c_char, kernel: *mut *mut NpgKernel, error: Error) -> i32;
    npg_kernel_args(kernel: *mut NpgKernel, count: *mut i32, error: Error) -> i32;
    npg_kernel_group(kernel: *mut NpgKernel, arg: i32, group: *mut i32, error: Error) -> i32;
    npg_kernel_free(kernel: *mut NpgKernel);

    npg_buffer_new(device: *mut NpgDevice, size: usize, kind: i32, group: u32, buffer: *mut *mut NpgBuffer, error: Error) -> i32;
    npg_buffer_map(buffer: *mut NpgBuffer, memory: *mut *mut c_void, error: Error) -> i32;
    npg_buffer_size(buffer: *mut NpgBuffer, size: *mut usize, error: Error) -> i32;
    npg_buffer_sync(buffer: *mut NpgBuffer, direction: i32, offset: usize, size: usize, error: Error) -> i32;
    npg_buffer_free(buffer: *mut NpgBuffer);

    npg_run_new(kernel: *mut NpgKernel, run: *mut *mut NpgRun, error: Error) -> i32;
    npg_run_set_buffer(run: *mut NpgRun, arg: i32, buffer: *mut NpgBuffer, error: Error) -> i32;
    npg_run_set_scalar(run: *mut NpgRun, arg: i32, value: *const c_void, size: usize, error: Error) -> i32;
    npg_run_start(run: *mut NpgRun, error: Error) -> i32;
    npg_run_wait(run: *mut NpgRun, milliseconds: u32, error: Error) -> i32;
    npg_run_state(run: *mut NpgRun, state: *mut i32, error: Error) -> i32;
    npg_run_free(run: *mut NpgRun);
}

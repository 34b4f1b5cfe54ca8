//! Buffers.

use std::{ffi::c_void, sync::Arc};

use super::{Failed, RawError, device::Device, free, give, guard, object, put};
use crate::memory::Memory;

pub(super) struct Buffer {
    pub(super) memory: Arc<Memory>,
}

#[unsafe(no_mangle)]
extern "C" fn npg_buffer_new(
    device: *mut Device,
    size: usize,
    kind: i32,
    group: u32,
    buffer: *mut *mut Buffer,
    error: *mut RawError,
) -> i32 {
    guard("npg_buffer_new", error, || {
        object(device)?;
        if size == 0 {
            return Err(Failed::argument("a buffer must have at least one byte"));
        }
        // Instructions and data of an xclbin are in groups; buffers of an ELF are not.
        let fits = match kind {
            0 | 1 => group != 0,
            2 => group == 0,
            _ => return Err(Failed::argument(format!("there is no kind of buffer {kind}"))),
        };
        if !fits {
            return Err(Failed::exception(format!("invalid memory group {group}")));
        }
        give(buffer, Buffer { memory: Arc::new(Memory::new(size)) })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_buffer_map(
    buffer: *mut Buffer,
    memory: *mut *mut c_void,
    error: *mut RawError,
) -> i32 {
    guard("npg_buffer_map", error, || put(memory, object(buffer)?.memory.host().cast()))
}

#[unsafe(no_mangle)]
extern "C" fn npg_buffer_size(buffer: *mut Buffer, size: *mut usize, error: *mut RawError) -> i32 {
    guard("npg_buffer_size", error, || put(size, object(buffer)?.memory.size()))
}

#[unsafe(no_mangle)]
extern "C" fn npg_buffer_sync(
    buffer: *mut Buffer,
    direction: i32,
    offset: usize,
    size: usize,
    error: *mut RawError,
) -> i32 {
    guard("npg_buffer_sync", error, || {
        let memory = &object(buffer)?.memory;
        let done = match direction {
            0 => memory.to_device(offset, size),
            _ => memory.to_host(offset, size),
        };
        if !done {
            let text = format!("the range is not within the buffer's {} bytes", memory.size());
            return Err(Failed::argument(text));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_buffer_free(buffer: *mut Buffer) {
    free("buffer", buffer);
}

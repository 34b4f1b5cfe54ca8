//! Versions and the device.

use std::{
    ffi::c_char,
    sync::{Arc, atomic::AtomicUsize},
};

use super::{Failed, RawError, free, give, guard, object, put, put_text};
use crate::{
    DEVICE_NAME,
    fault::{self, Effect},
};

/// The version of the interface that the mock implements.
const ABI: u32 = 2;

/// XRT 2.25, as a version code.
const VERSION: u32 = (2 << 16) + 25;

pub(super) struct Device {
    pub(super) contexts: Arc<AtomicUsize>,
}

/// `value`, or the number that a fault sets instead.
fn value(function: &str, value: u32) -> u32 {
    match fault::effect(function) {
        Some(Effect::Value(other)) => other,
        _ => value,
    }
}

#[unsafe(no_mangle)]
extern "C" fn npg_abi() -> u32 {
    value("npg_abi", ABI)
}

#[unsafe(no_mangle)]
extern "C" fn npg_version(
    built: *mut u32,
    loaded: *mut u32,
    patch: *mut u32,
    error: *mut RawError,
) -> i32 {
    guard("npg_version", error, || {
        put(built, value("npg_version", VERSION))?;
        put(loaded, value("npg_version_loaded", VERSION))?;
        put(patch, 0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_device_count(count: *mut u32, error: *mut RawError) -> i32 {
    guard("npg_device_count", error, || put(count, value("npg_device_count", 1)))
}

#[unsafe(no_mangle)]
extern "C" fn npg_device_open(index: u32, device: *mut *mut Device, error: *mut RawError) -> i32 {
    guard("npg_device_open", error, || {
        if index >= value("npg_device_count", 1) {
            return Err(Failed::exception(format!(" No such device with index '{index}'")));
        }
        give(device, Device { contexts: Arc::default() })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_device_text(
    device: *mut Device,
    key: i32,
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
    error: *mut RawError,
) -> i32 {
    guard("npg_device_text", error, || {
        object(device)?;
        let name = match fault::effect("npg_device_text") {
            Some(Effect::Text(name)) => name,
            _ => DEVICE_NAME.to_owned(),
        };
        match key {
            0 => put_text("0000:00:00.0", text, size, needed),
            1 => put_text(&name, text, size, needed),
            _ => Err(Failed::argument(format!("a device has no text with key {key}"))),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_device_free(device: *mut Device) {
    free("device", device);
}

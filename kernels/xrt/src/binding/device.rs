//! A device that XRT opened.

#![expect(unsafe_code, reason = "calls the shim")]

use std::{str::FromStr, sync::Arc};

use super::{Platform, abi::NpgDevice, handle::Handle, shim::Shim};
use crate::{Context, Error, Program};

/// An open device. Clones are the same device. It is closed when the last clone, and the last
/// object that was made from one, is dropped.
#[derive(Clone, Debug)]
pub struct Device {
    open: Arc<Open>,
}

#[derive(Debug)]
struct Open {
    handle: Handle<NpgDevice>,
    bdf: String,
    name: String,
}

/// A generation of NPUs. Programs are built for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Generation {
    /// AIE2: Phoenix, Hawk Point.
    Npu1,
    /// AIE2P: Strix, Strix Halo, Krackan, Gorgon Point.
    Npu2,
}

/// The name of a device from which no generation follows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{name}` is not the name of a known NPU; known are npu1 (Phoenix) and npu2 (Strix, Strix Halo, Krackan, Gorgon Point)"
)]
pub struct UnknownGeneration {
    /// The name.
    pub name: String,
}

impl Generation {
    /// The platform of this generation's ELFs; npu1 has none.
    pub const fn platform(self) -> Option<Platform> {
        match self {
            Self::Npu1 => None,
            Self::Npu2 => Some(Platform::AIE2P),
        }
    }

    /// The number of columns of the array that a program can use.
    pub const fn columns(self) -> u32 {
        match self {
            Self::Npu1 => 4,
            Self::Npu2 => 8,
        }
    }
}

impl FromStr for Generation {
    type Err = UnknownGeneration;

    /// Looks for the same parts in the name that MLIR-AIR and MLIR-AIE look for in the output of
    /// `xrt-smi`.
    fn from_str(name: &str) -> Result<Self, UnknownGeneration> {
        const NPU1: [&str; 2] = ["npu1", "Phoenix"];
        const NPU2: [&str; 6] = ["npu4", "npu5", "npu6", "Strix", "Krackan", "Gorgon Point"];
        let has = |parts: &[&str]| {
            parts.iter().any(|part| {
                name.match_indices(part).any(|(at, _)| {
                    // `npu10` is not `npu1`.
                    let next = name.get(at + part.len()..).and_then(|rest| rest.chars().next());
                    !next.is_some_and(|c| c.is_ascii_digit())
                })
            })
        };
        if has(&NPU2) {
            Ok(Self::Npu2)
        } else if has(&NPU1) {
            Ok(Self::Npu1)
        } else {
            Err(UnknownGeneration { name: name.to_owned() })
        }
    }
}

impl Device {
    /// Opens the device at `index`.
    pub(super) fn open(shim: &Arc<Shim>, index: u32) -> Result<Self, Error> {
        let handle = Handle::make(shim, "device_open", |functions, out, error| {
            // SAFETY: `out` and `error` are valid for writes during the call.
            unsafe { (functions.npg_device_open)(index, out, error) }
        })?;
        let bdf = text(&handle, 0)?;
        let name = text(&handle, 1)?;
        Ok(Self { open: Arc::new(Open { handle, bdf, name }) })
    }

    /// The address on the PCI bus, such as `0000:c5:00.1`.
    pub fn bdf(&self) -> &str {
        &self.open.bdf
    }

    /// The name, such as `RyzenAI-npu4`.
    pub fn name(&self) -> &str {
        &self.open.name
    }

    /// The generation.
    ///
    /// # Errors
    /// If no generation follows from the name.
    pub fn generation(&self) -> Result<Generation, UnknownGeneration> {
        self.name().parse()
    }

    /// Loads `program` onto the device.
    ///
    /// # Errors
    /// If no context is free, or the driver refuses the program.
    pub fn context(&self, program: &Program) -> Result<Context, Error> {
        Context::open(self, program)
    }

    pub(super) fn handle(&self) -> &Handle<NpgDevice> {
        &self.open.handle
    }
}

/// A text about the device, by its `npg_device_key`.
fn text(handle: &Handle<NpgDevice>, key: i32) -> Result<String, Error> {
    handle.shim().text("device_text", |functions, text, size, needed, error| {
        // SAFETY: the handle lives, and `text` has `size` bytes.
        unsafe { (functions.npg_device_text)(handle.get(), key, text, size, needed, error) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_follows_from_the_name_of_the_device() {
        for name in [
            "RyzenAI-npu4",
            "NPU Strix Halo",
            "RyzenAI-npu6",
            "NPU Krackan 1",
            "NPU Gorgon Point 2",
            "RyzenAI-npu4 (fake)",
        ] {
            assert_eq!(name.parse(), Ok(Generation::Npu2), "{name}");
        }
        for name in ["RyzenAI-npu1", "NPU Phoenix"] {
            assert_eq!(name.parse(), Ok(Generation::Npu1), "{name}");
        }
        for name in ["RyzenAI-npu3", "RyzenAI-npu10", "xilinx_u200", ""] {
            assert!(name.parse::<Generation>().is_err(), "{name}");
        }
    }
}

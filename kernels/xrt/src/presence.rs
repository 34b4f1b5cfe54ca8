//! Whether there is an NPU and a shim to reach it, found out without opening either.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{SHIM_VAR, XrtVersion, setup};

/// Where Linux lists the devices that are bound to the NPU's driver.
pub const DRIVER: &str = "/sys/bus/pci/drivers/amdxdna";

/// Whether a device is hardware. Results from a double are not evidence about any NPU: they are
/// kept apart by the device's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Nature {
    /// An NPU.
    Hardware,
    /// A double of the driver or of XRT, for tests of the host's side.
    Fake,
}

impl Nature {
    /// The nature of a device by the name that its driver gives it: a double says that it is one.
    pub fn of_name(name: &str) -> Self {
        let name = name.to_lowercase();
        if name.contains("fake") || name.contains("mock") { Self::Fake } else { Self::Hardware }
    }

    /// The name of the device in results and baselines.
    pub const fn device_name(self) -> &'static str {
        match self {
            Self::Hardware => "xrt",
            Self::Fake => "xrt-fake",
        }
    }
}

/// An NPU that is bound to the driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Present {
    /// Its address on the PCI bus.
    pub bdf: String,
    /// The name that the driver gives it, such as `RyzenAI-npu4`.
    pub name: String,
    /// The XRT that the shim was built for, if that is known.
    pub xrt: Option<XrtVersion>,
}

/// What is missing to reach an NPU.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Absent {
    /// The driver has no device.
    #[error(
        "no NPU: the driver amdxdna has no device in {}; run `cargo npugate doctor` to see what is missing",
        .driver.display()
    )]
    Device {
        /// The folder that lists the driver's devices.
        driver: PathBuf,
    },
    /// The driver has a device, but there is no shim to reach XRT.
    #[error("XRT is not set up for {device}; run `cargo npugate setup xrt`")]
    Shim {
        /// The device's name.
        device: String,
    },
    /// The shim that [`SHIM_VAR`] names does not exist.
    #[error("{SHIM_VAR} names {}, which does not exist; correct it or unset it", .path.display())]
    NamedShim {
        /// The path.
        path: PathBuf,
    },
}

/// Looks for an NPU and the shim.
///
/// # Errors
/// The first thing that is missing.
pub fn look() -> Result<Present, Absent> {
    look_in(Path::new(DRIVER))
}

fn look_in(driver: &Path) -> Result<Present, Absent> {
    let (bdf, name) = device(driver).ok_or_else(|| Absent::Device { driver: driver.to_owned() })?;
    let xrt = shim(&name)?;
    Ok(Present { bdf, name, xrt })
}

/// The name of the driver's first device, if it has one.
pub fn device_name() -> Option<String> {
    device(Path::new(DRIVER)).map(|(_, name)| name)
}

/// The address and the name of the driver's first device, in the order of addresses.
fn device(driver: &Path) -> Option<(String, String)> {
    let entries = fs::read_dir(driver).ok()?.filter_map(Result::ok);
    let named = entries.filter_map(|entry| {
        let name = fs::read_to_string(entry.path().join("vbnv")).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), name.trim().to_owned()))
    });
    named.min()
}

fn shim(device: &str) -> Result<Option<XrtVersion>, Absent> {
    if let Some(path) = env::var_os(SHIM_VAR).map(PathBuf::from) {
        return if path.exists() { Ok(None) } else { Err(Absent::NamedShim { path }) };
    }
    if cfg!(feature = "link-xrt") {
        return Ok(None);
    }
    match setup::find_installed().first() {
        Some(installed) => Ok(Some(installed.xrt)),
        None => Err(Absent::Shim { device: device.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_says_so_and_has_a_name_of_its_own() {
        for name in ["RyzenAI-npu4 (fake)", "Fake NPU", "mock-npu4"] {
            assert_eq!(Nature::of_name(name), Nature::Fake, "{name}");
        }
        assert_eq!(Nature::of_name("RyzenAI-npu4"), Nature::Hardware);
        assert_ne!(Nature::Fake.device_name(), Nature::Hardware.device_name());
    }

    #[test]
    fn the_first_device_of_the_driver_is_found_by_its_name() {
        let sysfs = tempfile::tempdir().unwrap();
        assert_eq!(device(sysfs.path()), None);
        for (bdf, name) in [("0000:c6:00.1", "RyzenAI-npu5\n"), ("0000:c5:00.1", "RyzenAI-npu4\n")]
        {
            fs::create_dir(sysfs.path().join(bdf)).unwrap();
            fs::write(sysfs.path().join(bdf).join("vbnv"), name).unwrap();
        }
        fs::create_dir(sysfs.path().join("module")).unwrap();
        let found = device(sysfs.path());
        assert_eq!(found, Some(("0000:c5:00.1".to_owned(), "RyzenAI-npu4".to_owned())));
    }

    #[test]
    fn the_error_without_an_npu_says_what_to_do() {
        let sysfs = tempfile::tempdir().unwrap();
        let error = look_in(&sysfs.path().join("amdxdna")).unwrap_err();
        assert!(matches!(error, Absent::Device { .. }));
        assert!(error.to_string().contains("cargo npugate doctor"), "{error}");
    }
}

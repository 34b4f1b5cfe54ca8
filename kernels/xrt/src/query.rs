//! Queries that read the state of a device from its driver, at the device node and without XRT.
//! They change nothing. The numbers and structures are those of `drm/drm.h` and
//! `drm/amdxdna_accel.h`, which the kernel keeps stable.
#![expect(unsafe_code, reason = "ioctl is a function of C")]

#[cfg(target_os = "linux")]
use rustix::ioctl::opcode;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::{fmt, fs::File, io, str::FromStr};

/// The version of the driver's interface. In the kernel's own tree, 0.1 added `GET_ARRAY` and 0.6
/// added preemption, which ELF programs need (the list is in `amdxdna_pci_drv.c`). Drivers from
/// outside of the tree reported 1.0 until 2026.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct DriverInterface {
    /// The major number.
    pub major: u32,
    /// The minor number.
    pub minor: u32,
}

/// Text that is not the version of an interface.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not the version of a driver's interface; write it as 0.6")]
pub struct InvalidInterface(pub String);

impl fmt::Display for DriverInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for DriverInterface {
    type Err = InvalidInterface;

    fn from_str(text: &str) -> Result<Self, InvalidInterface> {
        let invalid = || InvalidInterface(text.to_owned());
        let (major, minor) = text.split_once('.').ok_or_else(invalid)?;
        let number = |text: &str| text.parse().map_err(|_| invalid());
        Ok(Self { major: number(major)?, minor: number(minor)? })
    }
}

/// How fast a device runs, by the names of `xrt-smi configure --pmode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PowerMode {
    /// The driver decides.
    Default,
    /// Slow.
    Powersaver,
    /// In between.
    Balanced,
    /// Fast.
    Performance,
    /// As fast as possible: the mode of published measurements.
    Turbo,
}

impl PowerMode {
    const ALL: [Self; 5] =
        [Self::Default, Self::Powersaver, Self::Balanced, Self::Performance, Self::Turbo];

    /// The name that `xrt-smi` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Powersaver => "powersaver",
            Self::Balanced => "balanced",
            Self::Performance => "performance",
            Self::Turbo => "turbo",
        }
    }
}

/// Text that is not a power mode.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a power mode; use default, powersaver, balanced, performance or turbo")]
pub struct UnknownPowerMode(pub String);

impl FromStr for PowerMode {
    type Err = UnknownPowerMode;

    fn from_str(text: &str) -> Result<Self, UnknownPowerMode> {
        let mode = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        mode.ok_or_else(|| UnknownPowerMode(text.to_owned()))
    }
}

/// `struct drm_version`: three numbers, and texts with their lengths.
#[cfg(target_os = "linux")]
#[repr(C)]
#[derive(Default)]
struct DrmVersion {
    major: i32,
    minor: i32,
    patch: i32,
    name_length: usize,
    name: usize,
    date_length: usize,
    date: usize,
    description_length: usize,
    description: usize,
}

/// `struct amdxdna_drm_get_info`.
#[cfg(target_os = "linux")]
#[repr(C)]
struct GetInfo {
    parameter: u32,
    size: u32,
    buffer: u64,
}

/// Of `enum amdxdna_drm_get_param`: the power mode.
#[cfg(target_os = "linux")]
const GET_POWER_MODE: u32 = 9;

/// The driver's name for itself (`amdxdna_pci_drv.c`).
#[cfg(target_os = "linux")]
const DRIVER_NAME: &[u8] = b"amdxdna_accel_driver";

/// Reads the version of the driver's interface.
///
/// # Errors
///
/// If the file is not a device of amdxdna, or the driver does not answer.
#[cfg(target_os = "linux")]
pub fn driver_interface(node: &File) -> io::Result<DriverInterface> {
    const VERSION: libc::Ioctl = opcode::read_write::<DrmVersion>(b'd', 0) as libc::Ioctl;
    let mut name = [0_u8; 64];
    let mut version = DrmVersion {
        name_length: name.len(),
        name: name.as_mut_ptr().expose_provenance(),
        ..DrmVersion::default()
    };
    // SAFETY: the code is that of DRM_IOCTL_VERSION, whose argument is a `drm_version`, as
    // it is laid out above. The kernel writes at most `name_length` bytes of the name to
    // `name`, which lives until after the call, and nothing of the texts of length 0. The
    // letter and the size are part of the code: other kinds of files refuse it.
    succeeded(unsafe { libc::ioctl(node.as_raw_fd(), VERSION, &raw mut version) })?;
    // The kernel sets the length of the whole name, not of the part that it wrote.
    let length = version.name_length.min(name.len());
    if &name[..length] != DRIVER_NAME {
        return Err(io::Error::other("the device's driver is not amdxdna"));
    }
    let number = |n: i32| u32::try_from(n).map_err(io::Error::other);
    Ok(DriverInterface { major: number(version.major)?, minor: number(version.minor)? })
}

/// The result of an ioctl. It is called through the C library, where a double of the driver can
/// stand in for the driver.
#[cfg(target_os = "linux")]
fn succeeded(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads the power mode. The driver wakes the device for it.
///
/// # Errors
///
/// As [`driver_interface`]; or if this crate does not know the mode.
#[cfg(target_os = "linux")]
pub fn power_mode(node: &File) -> io::Result<PowerMode> {
    const GET_INFO: libc::Ioctl = opcode::read_write::<GetInfo>(b'd', 0x47) as libc::Ioctl;
    // For another driver, the code may mean something else.
    driver_interface(node)?;
    // The mode, and seven bytes that make it a multiple of eight.
    let mut mode = [0_u8; 8];
    let buffer = mode.as_mut_ptr().expose_provenance() as u64;
    let mut info = GetInfo { parameter: GET_POWER_MODE, size: 8, buffer };
    // SAFETY: the node belongs to amdxdna, and the code is its DRM_IOCTL_AMDXDNA_GET_INFO,
    // whose argument is laid out above. The kernel writes at most `size` bytes to the
    // buffer, which lives until after the call.
    succeeded(unsafe { libc::ioctl(node.as_raw_fd(), GET_INFO, &raw mut info) })?;
    let known = PowerMode::ALL.get(usize::from(mode[0])).copied();
    known.ok_or_else(|| io::Error::other(format!("power mode {} is unknown", mode[0])))
}

/// Other systems have no such device.
///
/// # Errors
///
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn driver_interface(_: &File) -> io::Result<DriverInterface> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Other systems have no such device.
///
/// # Errors
///
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn power_mode(_: &File) -> io::Result<PowerMode> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_ordered_by_their_numbers() {
        let version = |text: &str| text.parse::<DriverInterface>().unwrap();
        assert!(version("0.10") > version("0.6") && version("1.0") > version("0.10"));
        assert_eq!(version("0.6").to_string(), "0.6");
        for text in ["", "0", "0.x", "0.6.1"] {
            assert!(text.parse::<DriverInterface>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_name_of_a_power_mode_parses_to_it() {
        for mode in PowerMode::ALL {
            assert_eq!(mode.as_str().parse(), Ok(mode));
        }
        assert!("fast".parse::<PowerMode>().is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn structures_have_the_kernels_sizes() {
        // sizeof(struct drm_version) and of amdxdna_drm_get_info on 64 bits; the size is
        // part of an ioctl's code, so that a wrong one is refused.
        assert_eq!(size_of::<DrmVersion>(), 64);
        assert_eq!(size_of::<GetInfo>(), 16);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_not_a_device_refuses_the_queries() {
        let file = File::open("/dev/null").unwrap();
        // 25 is ENOTTY.
        assert_eq!(driver_interface(&file).unwrap_err().raw_os_error(), Some(25));
        assert_eq!(power_mode(&file).unwrap_err().raw_os_error(), Some(25));
    }
}

//! XRT, found and loaded.

#![expect(unsafe_code, reason = "calls the shim")]

use std::{env, path::Path, sync::Arc};

use super::{Device, Elf, Xclbin, XrtVersion, shim::Shim};
use crate::{Error, SHIM_NAME, SHIM_VAR, setup};

/// A loaded XRT of a version that fits the shim.
#[derive(Clone, Debug)]
pub struct Library {
    shim: Arc<Shim>,
}

impl Library {
    /// Finds and loads XRT through the shim that `NPUGATE_XRT_SHIM` names, else through one that
    /// [`setup::run`] built, else through one on the loader's path. With the feature `link-xrt` and
    /// without the variable, it uses the linked shim.
    ///
    /// # Errors
    /// If the shim or XRT is missing, cannot be loaded, or has the wrong version.
    pub fn open() -> Result<Self, Error> {
        #[cfg(feature = "link-xrt")]
        if env::var_os(SHIM_VAR).is_none() {
            return Ok(Self { shim: Arc::new(Shim::linked()?) });
        }
        if let Some(path) = env::var_os(SHIM_VAR) {
            return Self::open_at(Path::new(&path));
        }
        let mut first = None;
        for installed in setup::find_installed() {
            match Self::open_at(&installed.shim) {
                Ok(library) => return Ok(library),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Self::open_at(Path::new(SHIM_NAME)).map_err(|error| match (first, error) {
            // Why a shim that setup built cannot be loaded says more than that no other was found.
            (Some(first), _) => first,
            (None, Error::ShimMissing { mut searched }) => {
                searched.extend(setup::cache());
                Error::ShimMissing { searched }
            }
            (None, error) => error,
        })
    }

    /// Loads the shim at `path`.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn open_at(path: &Path) -> Result<Self, Error> {
        Ok(Self { shim: Arc::new(Shim::load(path)?) })
    }

    /// The version of the loaded XRT.
    pub fn version(&self) -> XrtVersion {
        self.shim.version()
    }

    /// The shim that was loaded.
    pub fn path(&self) -> &Path {
        self.shim.path()
    }

    /// The number of devices that XRT sees. It sees none unless its driver library is beside it.
    ///
    /// # Errors
    /// If XRT fails.
    pub fn device_count(&self) -> Result<u32, Error> {
        let mut count = 0;
        self.shim.call("device_count", |functions, error| {
            // SAFETY: both pointers are to locals of the declared types.
            unsafe { (functions.npg_device_count)(&raw mut count, error) }
        })?;
        Ok(count)
    }

    /// Opens a device; the first has index 0.
    ///
    /// # Errors
    /// If there is no such device, or it cannot be opened.
    pub fn device(&self, index: u32) -> Result<Device, Error> {
        Device::open(&self.shim, index)
    }

    /// Reads an ELF. This needs no device.
    ///
    /// # Errors
    /// If the file is missing, not an ELF, or for another machine.
    pub fn elf(&self, path: &Path) -> Result<Elf, Error> {
        Elf::open(&self.shim, path)
    }

    /// Reads an xclbin. This needs no device.
    ///
    /// # Errors
    /// If the file is missing, truncated, or not an xclbin.
    pub fn xclbin(&self, path: &Path) -> Result<Xclbin, Error> {
        Xclbin::open(&self.shim, path)
    }
}

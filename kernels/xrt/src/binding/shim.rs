//! The loaded shim: its functions, called one at a time.

#![expect(unsafe_code, reason = "loads the shim and calls its functions")]

use std::{
    ffi::{CStr, CString, c_char},
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    XrtVersion,
    abi::{ABI, Functions, RawError},
};
use crate::{Error, Failure, MINIMUM_XRT, Report};

/// The shim and the XRT behind it.
///
/// Every call except a wait is made under one lock, so that threads may share handles whether or
/// not XRT's objects allow it.
pub struct Shim {
    functions: Functions,
    calls: Mutex<()>,
    version: XrtVersion,
    path: PathBuf,
}

impl Shim {
    /// Loads the shim at `path`, and checks the versions of its interface and of XRT.
    ///
    /// A shim that passes is never unloaded, since XRT's threads and globals use its code until the
    /// process ends.
    pub fn load(path: &Path) -> Result<Self, Error> {
        // SAFETY: loading runs the initialisers of the shim and of XRT, as starting a program that
        // links them does.
        let library = unsafe { libloading::Library::new(path) }
            .map_err(|error| not_loaded(path, &innermost(&error)))?;
        let functions = Functions::load(&library).map_err(|error| Error::ShimBroken {
            path: path.to_owned(),
            message: innermost(&error),
        })?;
        let shim = Self::check(&functions, path.to_owned())?;
        std::mem::forget(library);
        Ok(shim)
    }

    /// The shim that was linked into this program.
    #[cfg(feature = "link-xrt")]
    pub fn linked() -> Result<Self, Error> {
        Self::check(&Functions::linked(), PathBuf::from("the linked shim"))
    }

    /// Checks the versions.
    fn check(functions: &Functions, path: PathBuf) -> Result<Self, Error> {
        // SAFETY: `npg_abi` has the same type in every version of the interface.
        let found = unsafe { (functions.npg_abi)() };
        if found != ABI {
            return Err(Error::AbiMismatch { path, expected: ABI, found });
        }
        let unknown = XrtVersion::new(0, 0, 0);
        let mut shim =
            Self { functions: *functions, calls: Mutex::new(()), version: unknown, path };
        let (mut built, mut loaded, mut patch) = (0, 0, 0);
        shim.call("version", |functions, error| {
            // SAFETY: all four pointers are to locals of the declared types.
            unsafe {
                (functions.npg_version)(&raw mut built, &raw mut loaded, &raw mut patch, error)
            }
        })?;
        let built = XrtVersion::from_code(built, 0);
        shim.version = XrtVersion::from_code(loaded, patch);
        if !built.same_interface(shim.version) {
            let Self { path, version: loaded, .. } = shim;
            return Err(Error::VersionMismatch { path, built, loaded });
        }
        if shim.version < MINIMUM_XRT {
            return Err(Error::XrtTooOld { found: shim.version, minimum: MINIMUM_XRT });
        }
        Ok(shim)
    }

    /// The version of the loaded XRT.
    pub fn version(&self) -> XrtVersion {
        self.version
    }

    /// The path of the shim.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The shim's functions, under the lock.
    pub fn lock(&self) -> (&Functions, MutexGuard<'_, ()>) {
        (&self.functions, self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a function under the lock.
    pub fn call(
        &self,
        name: &'static str,
        call: impl FnOnce(&Functions, *mut RawError) -> i32,
    ) -> Result<(), Error> {
        let (_, _guard) = self.lock();
        self.wait(name, call).map_err(Error::from)
    }

    /// Calls a function that waits, without the lock.
    pub fn wait(
        &self,
        name: &'static str,
        call: impl FnOnce(&Functions, *mut RawError) -> i32,
    ) -> Result<(), Report> {
        let mut error = RawError::new();
        let kind = call(&self.functions, &raw mut error);
        if kind == 0 {
            return Ok(());
        }
        Err(Report {
            call: name,
            failure: Failure::new(kind, error.code),
            text: text(&error.message).trim().to_owned(),
        })
    }

    /// The text that a function returns, of any length.
    pub fn text(
        &self,
        name: &'static str,
        mut call: impl FnMut(&Functions, *mut c_char, usize, *mut usize, *mut RawError) -> i32,
    ) -> Result<String, Error> {
        let mut buffer = vec![0; 256];
        // The text is a constant of a file or a device, so it fits the second time.
        for _ in 0..2 {
            let mut needed = 0;
            self.call(name, |functions, error| {
                call(functions, buffer.as_mut_ptr(), buffer.len(), &raw mut needed, error)
            })?;
            if needed <= buffer.len() {
                return Ok(text(&buffer));
            }
            buffer.resize(needed, 0);
        }
        Err(Error::Contract { message: format!("the text of {name} grew between two calls") })
    }
}

impl fmt::Debug for Shim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shim")
            .field("path", &self.path)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Text as a C string.
pub fn c_string(text: impl Into<Vec<u8>>) -> Result<CString, Error> {
    CString::new(text).map_err(|error| {
        let end = error.nul_position();
        let text = error.into_vec();
        let text = text.get(..end).unwrap_or(&text);
        Error::ZeroByte { text: String::from_utf8_lossy(text).into_owned() }
    })
}

/// The text in `buffer`, up to its zero.
fn text(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().map(|&c| c.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::from_utf8_lossy(&bytes), CStr::to_string_lossy)
        .into_owned()
}

/// The loader's own message, which `libloading` keeps as the source of its error.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

/// XRT's library in messages of the loader.
const XRT: &str = "libxrt_core";

/// Distinguishes a missing shim, a broken shim and a missing XRT.
fn not_loaded(path: &Path, message: &str) -> Error {
    let is_missing = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => !path.exists(),
        // A bare name, which the loader searches for in its own places.
        _ => message.contains("No such file") && !message.contains(XRT),
    };
    let message = message.to_owned();
    if is_missing {
        Error::ShimMissing { searched: vec![path.to_owned()] }
    } else if message.contains(XRT) {
        Error::XrtMissing { message }
    } else {
        Error::ShimBroken { path: path.to_owned(), message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The messages of glibc 2.36.
    #[test]
    fn a_missing_xrt_is_distinguished_from_a_missing_shim() {
        let folder = tempfile::tempdir().unwrap();
        let shim = folder.path().join("libnpugate_xrt.so.1");
        let text =
            "libxrt_coreutil.so.2: cannot open shared object file: No such file or directory";
        assert!(matches!(not_loaded(&shim, text), Error::ShimMissing { .. }));
        std::fs::write(&shim, "").unwrap();
        assert!(matches!(not_loaded(&shim, text), Error::XrtMissing { .. }));
        assert!(matches!(
            not_loaded(Path::new("libnpugate_xrt.so.1"), text),
            Error::XrtMissing { .. }
        ));
        let text = "libnpugate_xrt.so.1: cannot open shared object file: No such file or directory";
        assert!(matches!(
            not_loaded(Path::new("libnpugate_xrt.so.1"), text),
            Error::ShimMissing { .. }
        ));
        assert!(matches!(not_loaded(&shim, "file too short"), Error::ShimBroken { .. }));
    }
}

//! Building the shim on a machine that has XRT. The shim's source is part of this program.
//!
//! XRT's C++ interface may change with each version, so a shim is for one version of XRT. Its
//! folder is named after that version and the hash of the shim's source.

mod cache;
mod compile;
mod locate;
mod options;
mod source;

use std::{fs, path::Path};

pub use cache::{Installed, cache, find_installed, find_installed_in, folder};
pub use options::{SetupError, SetupOptions};

use crate::{MINIMUM_XRT, SHIM_NAME, XrtVersion};
use locate::Places;

/// Finds XRT, compiles the shim against it, and puts it where [`Library::open`] finds it. A shim
/// that is already there is replaced atomically.
///
/// # Errors
/// If XRT or a compiler is missing, or the shim does not compile.
///
/// [`Library::open`]: crate::Library::open
pub fn run(options: &SetupOptions) -> Result<Installed, SetupError> {
    let places = Places::of_this_machine(options.include.as_deref(), options.lib.as_deref());
    let xrt = places.find()?;
    let (major, minor) = xrt.version;
    let version = XrtVersion::new(major, minor, 0);
    if version < MINIMUM_XRT {
        return Err(SetupError::TooOld { include: xrt.include, found: version });
    }

    let cache = options.cache.clone().or_else(cache).ok_or(SetupError::NoCache)?;
    let folder = folder(&cache, version);
    let shim = folder.join(SHIM_NAME);
    // On the file system of the cache, so that the finished shim can be moved in one step.
    fs::create_dir_all(&folder).map_err(|source| unwritable(&folder, source))?;
    let work = tempfile::Builder::new()
        .prefix(".setup-")
        .tempdir_in(&cache)
        .map_err(|source| unwritable(&cache, source))?;
    source::write(work.path()).map_err(|source| unwritable(work.path(), source))?;
    let built = work.path().join(SHIM_NAME);
    compile::compile(options.compiler.as_deref(), work.path(), &xrt, &built)?;
    fs::rename(&built, &shim).map_err(|source| unwritable(&shim, source))?;
    Ok(Installed { shim, xrt: version })
}

fn unwritable(path: &Path, source: std::io::Error) -> SetupError {
    SetupError::Write { path: path.to_owned(), source }
}

//! What setup is told, and why it may fail.

use std::path::PathBuf;

/// What to build the shim with. All of it is found where it is not told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SetupOptions {
    /// The folder with `xrt/xrt_device.h`.
    pub include: Option<PathBuf>,
    /// The folder with `libxrt_coreutil.so`.
    pub lib: Option<PathBuf>,
    /// Where to put it, in place of the user's cache.
    pub cache: Option<PathBuf>,
}

/// Why the shim could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// There is no folder for it.
    #[error("there is no folder for the shim; set HOME or XDG_CACHE_HOME")]
    NoCache,
}

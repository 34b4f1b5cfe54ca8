//! The options of setup, and why it may fail.

use std::{ffi::OsString, io, path::PathBuf};

use super::locate::Missing;
use crate::{MINIMUM_XRT, XrtVersion};

/// What to build the shim with. Setup finds whatever is not set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SetupOptions {
    /// The folder with `xrt/xrt_device.h`.
    pub include: Option<PathBuf>,
    /// The folder with `libxrt_coreutil.so`.
    pub lib: Option<PathBuf>,
    /// The C++ compiler, instead of `CXX` and the usual ones.
    pub compiler: Option<OsString>,
    /// Where to put the shim, instead of the user's cache.
    pub cache: Option<PathBuf>,
}

/// Why the shim could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// There is no folder for the shim.
    #[error("there is no folder for the shim; set HOME or XDG_CACHE_HOME")]
    NoCache,
    /// XRT's headers are not installed.
    #[error("XRT's headers were not found (searched {}); install them (on Debian and Ubuntu `sudo apt install libxrt-dev`, elsewhere AMD's XRT package), or name their folder with --xrt-include", list(.searched))]
    NoHeaders {
        /// Where they were searched for.
        searched: Vec<PathBuf>,
    },
    /// XRT's library is not installed.
    #[error("libxrt_coreutil.so was not found (searched {}); install XRT (on Debian and Ubuntu `sudo apt install libxrt2 libxrt-npu2 libxrt-dev`, elsewhere AMD's XRT package), or name its folder with --xrt-lib", list(.searched))]
    NoLibrary {
        /// Where it was searched for.
        searched: Vec<PathBuf>,
    },
    /// The headers do not define their version.
    #[error("the headers in {} do not define their version; install XRT {MINIMUM_XRT} or newer", .include.display())]
    NoVersion {
        /// The folder of the headers.
        include: PathBuf,
    },
    /// XRT is too old.
    #[error("the XRT in {} is {found}, but {MINIMUM_XRT} is needed; install a newer one, or name its folders with --xrt-include and --xrt-lib", .include.display())]
    TooOld {
        /// The folder of the headers.
        include: PathBuf,
        /// Their version.
        found: XrtVersion,
    },
    /// There is no C++ compiler.
    #[error("no C++ compiler was found (tried {}); install one (on Debian and Ubuntu `sudo apt install g++`), or name it in CXX", .tried.join(", "))]
    NoCompiler {
        /// The names that were tried.
        tried: Vec<String>,
    },
    /// The compiler cannot be started.
    #[error("{} cannot be started: {source}; name another compiler in CXX", .compiler.display())]
    Start {
        /// The compiler.
        compiler: OsString,
        /// Why.
        source: io::Error,
    },
    /// The shim does not compile.
    #[error("{} cannot compile the shim against the XRT in {}; install a complete XRT, whose headers and library have one version:\n{message}", .compiler.display(), .include.display())]
    Compile {
        /// The compiler.
        compiler: OsString,
        /// The folder of the headers.
        include: PathBuf,
        /// The compiler's message.
        message: String,
    },
    /// A file of the cache cannot be written.
    #[error("{} cannot be written: {source}; free space, check its permissions, or set XDG_CACHE_HOME", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<Missing> for SetupError {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Headers(searched) => Self::NoHeaders { searched },
            Missing::Library(searched) => Self::NoLibrary { searched },
            Missing::Version(include) => Self::NoVersion { include },
        }
    }
}

/// Folders as text.
fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

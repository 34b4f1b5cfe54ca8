//! Building the shim on a machine that has XRT: its source is part of this program.

mod cache;
mod options;

pub use cache::{Installed, cache, find_installed};
pub use options::{SetupError, SetupOptions};

/// Finds XRT, compiles the shim against it, and puts it where [`Library::open`] finds it.
///
/// # Errors
/// If XRT or a compiler is missing, or the shim does not compile.
///
/// [`Library::open`]: crate::Library::open
pub fn run(options: &SetupOptions) -> Result<Installed, SetupError> {
    let _ = options;
    Err(SetupError::NoCache)
}

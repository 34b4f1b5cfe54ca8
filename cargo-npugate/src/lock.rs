//! Who ensures that only one process at a time uses an NPU.

use npugate_schema::{Holder, LockError};
use std::{path::PathBuf, time::Duration};

pub use npugate_schema::DeviceLock;

/// Who ensures that only one process at a time uses an NPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LockPolicy {
    /// This run, with a lock on a file.
    Take {
        /// The file.
        path: PathBuf,
        /// How long to wait for it.
        deadline: Duration,
    },
    /// The caller, or nobody.
    Leave,
}

impl LockPolicy {
    /// Takes the lock, if this run is to take it.
    ///
    /// # Errors
    ///
    /// The lock cannot be taken.
    pub fn acquire(
        &self,
        waiting: impl FnMut(Holder),
        wanted: impl FnMut() -> bool,
    ) -> Result<Option<DeviceLock>, LockError> {
        match self {
            Self::Leave => Ok(None),
            Self::Take { path, deadline } => {
                DeviceLock::acquire(path, *deadline, waiting, wanted).map(Some)
            }
        }
    }
}

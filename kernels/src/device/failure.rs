//! How a run on hardware can fail.

use std::{fmt, time::Duration};

/// How a run on hardware failed: every outcome other than a completed command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RunFailure {
    /// The host's deadline passed while the device was still running.
    HostTimeout {
        /// The deadline.
        after: Duration,
    },
    /// The driver's own limit passed, and it reset the program.
    DeviceTimeout,
    /// The command failed on the device.
    Failed,
    /// The command was aborted.
    Aborted,
    /// The firmware did not answer.
    NoResponse,
    /// The driver did not accept the command.
    NotSubmitted,
    /// The command ended in a state that does not mean success.
    Unknown,
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostTimeout { after } => write!(f, "still running after {after:?}"),
            Self::DeviceTimeout => f.write_str("timed out by the driver"),
            Self::Failed => f.write_str("failed on the device"),
            Self::Aborted => f.write_str("aborted"),
            Self::NoResponse => f.write_str("no response from the firmware"),
            Self::NotSubmitted => f.write_str("not accepted by the driver"),
            Self::Unknown => f.write_str("ended in an unknown state"),
        }
    }
}

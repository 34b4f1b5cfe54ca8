//! How a run on hardware can fail.

use std::{fmt, time::Duration};

/// How a run on hardware failed: all that is not a completed command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RunFailure {
    /// The host's deadline passed, and the device is still at it.
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
    /// The driver did not take the command.
    NotSubmitted,
    /// The command ended in a state that is no success.
    Unknown,
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostTimeout { after } => write!(f, "still running after {after:?}"),
            Self::DeviceTimeout => f.write_str("timed out by the driver"),
            Self::Failed => f.write_str("failed on the device"),
            Self::Aborted => f.write_str("aborted"),
            Self::NoResponse => f.write_str("no response of the firmware"),
            Self::NotSubmitted => f.write_str("not taken by the driver"),
            Self::Unknown => f.write_str("ended in an unknown state"),
        }
    }
}

//! From errors of XRT to errors of a device.

use npugate_kernels::{BufferSet, DeviceError, RunFailure};

use crate::{Deadline, Error, deployment::DeploymentError};

use super::MismatchError;

/// How a run failed.
pub(super) fn of_run(error: &Error, deadline: Deadline) -> RunFailure {
    match (error, deadline) {
        (Error::HostTimeout(_), Deadline::After(after)) => RunFailure::HostTimeout { after },
        (Error::DeviceTimeout(_), _) => RunFailure::DeviceTimeout,
        (Error::Device(_), _) => RunFailure::Failed,
        (Error::Aborted(_), _) => RunFailure::Aborted,
        (Error::NoResponse(_), _) => RunFailure::NoResponse,
        (Error::Submit(_) | Error::Wedged(_) | Error::Refused(_) | Error::DriverTooOld(_), _) => {
            RunFailure::NotSubmitted
        }
        _ => RunFailure::Unknown,
    }
}

/// A run that failed.
pub(super) fn run_failed(
    device: &str,
    program: &str,
    set: BufferSet,
    failure: RunFailure,
    error: Error,
) -> DeviceError {
    DeviceError::RunFailed {
        device: device.to_owned(),
        program: program.to_owned(),
        set,
        failure,
        message: error.to_string(),
        source: Some(Box::new(error)),
    }
}

/// A call that failed. What is missing from the machine is distinguished from what went wrong.
pub(super) fn of_call(device: &str, error: Error) -> DeviceError {
    let (device, message) = (device.to_owned(), error.to_string());
    match error {
        Error::ShimMissing { .. }
        | Error::ShimBroken { .. }
        | Error::XrtMissing { .. }
        | Error::AbiMismatch { .. }
        | Error::VersionMismatch { .. }
        | Error::XrtTooOld { .. }
        | Error::NoDevice(_)
        | Error::NodeMissing(_)
        | Error::Permission(_)
        | Error::NodeRefused(_)
        | Error::Memlock { .. }
        | Error::WrongDriver(_)
        | Error::NoSuchFile { .. } => {
            DeviceError::Unprepared { device, message, source: Some(Box::new(error)) }
        }
        error => DeviceError::Backend { device, message, source: Some(Box::new(error)) },
    }
}

/// A deployment that cannot be used, or lacks a program.
pub(super) fn of_deployment(device: &str, error: DeploymentError) -> DeviceError {
    let (device, message) = (device.to_owned(), error.to_string());
    DeviceError::Unprepared { device, message, source: Some(Box::new(error)) }
}

/// A compiled program that does not match.
pub(super) fn of_mismatch(device: &str, error: MismatchError) -> DeviceError {
    let (device, message) = (device.to_owned(), error.to_string());
    DeviceError::Backend { device, message, source: Some(Box::new(error)) }
}

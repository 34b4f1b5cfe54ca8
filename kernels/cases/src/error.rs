//! How a check treats a failure of a device.

use npugate::RunError;
use npugate_kernels::DeviceError;

/// Converts a failure of the device for a check: something is missing, this process can no longer
/// use the device, or there is a fault.
pub fn run_error(error: DeviceError) -> RunError {
    match error {
        DeviceError::Unprepared { .. } => RunError::setup(error),
        error if error.is_final() => RunError::lost(error),
        error => RunError::fault(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npugate_kernels::{BufferSet, RunFailure};

    #[test]
    fn what_is_missing_cannot_judge_and_a_failed_run_ends_the_process() {
        let missing = DeviceError::Unprepared {
            device: "xrt".into(),
            message: "no deployment".into(),
            source: None,
        };
        assert!(run_error(missing).is_setup());
        let failed = DeviceError::RunFailed {
            device: "xrt".into(),
            program: "o_ffn".into(),
            set: BufferSet(0),
            failure: RunFailure::Failed,
            message: String::new(),
            source: None,
        };
        assert!(run_error(failed).is_lost());
        let misused = run_error(DeviceError::UnknownProgram { index: 3 });
        assert!(!misused.is_setup() && !misused.is_lost());
    }
}

use npugate::metrics::CompareError;
use npugate_kernels::{DeviceError, TensorError};
use std::io;

/// Why a contestant could not be timed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The emulated NPU refused.
    #[error("the emulated NPU: {0}")]
    Device(Box<DeviceError>),
    /// A tensor of this benchmark does not fit its shape.
    #[error("an input: {0}")]
    Input(#[from] TensorError),
    /// The same for a tensor of the harness.
    #[error("an input: {0}")]
    HarnessInput(#[from] npugate::TensorError),
    /// The comparator refused.
    #[error("the comparator: {0}")]
    Compare(#[from] CompareError),
    /// candle refused.
    #[error("candle: {0}")]
    Candle(#[from] candle_core::Error),
    /// Python could not be talked to.
    #[error(
        "python: {0}; set NPUGATE_PYTHON to an interpreter that works, or to nothing to do without"
    )]
    Pipe(#[from] io::Error),
    /// Python's answer is not a time.
    #[error("python answered `{answer}` to `{request}`; its own message is above")]
    Answer {
        /// What was asked.
        request: String,
        /// What came back.
        answer: String,
    },
}

impl From<DeviceError> for BenchError {
    fn from(error: DeviceError) -> Self {
        Self::Device(Box::new(error))
    }
}

//! Why tests cannot be run at all.

use crate::start::StartError;
use std::io;

/// Why tests cannot be run at all. A test that fails or a gate that dies is not an error,
/// but a part of the result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the output of a gate cannot be followed: {0}")]
    Events(io::Error),
}

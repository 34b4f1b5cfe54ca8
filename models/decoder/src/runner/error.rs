//! What can go wrong while a decoder is being set up or running.

use npugate::{RunError, TensorError};
use npugate_kernel_cases::run_error;
use npugate_kernels::DeviceError;

/// A call that the decoder refuses, or a failure of the device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// Nothing to run.
    #[error("the prompt is empty; give it at least one token")]
    EmptyPrompt,
    /// More tokens than prefill is compiled for, though not more than the model has
    /// positions.
    #[error(
        "the prompt has {tokens} tokens, but prefill is compiled for {max}; shorten it or set a \
         larger `seq_len` (the model has {positions} positions)"
    )]
    PromptTooLong {
        /// Tokens of the prompt.
        tokens: usize,
        /// The most that fit.
        max: usize,
        /// Positions of the model.
        positions: usize,
    },
    /// More tokens than the model has positions.
    #[error("the prompt has {tokens} tokens, but the model has {positions} positions; shorten it")]
    PromptBeyondModel {
        /// Tokens of the prompt.
        tokens: usize,
        /// Positions of the model.
        positions: usize,
    },
    /// A token without an embedding.
    #[error("token {token} is outside the vocabulary of {vocab_size}")]
    TokenOutsideVocabulary {
        /// The token.
        token: u32,
        /// Entries of the vocabulary.
        vocab_size: usize,
    },
    /// Logits of positions that the prompt does not have.
    #[error(
        "logits are requested from position {from} on, but the prompt has {positions} positions"
    )]
    NoLogitRows {
        /// The first requested position.
        from: usize,
        /// Positions of the prompt.
        positions: usize,
    },
    /// A token that does not follow the cache.
    #[error(
        "a token at position {pos} cannot follow a KV cache of {cached} positions; the next position \
         is {cached}"
    )]
    WrongPosition {
        /// The requested position.
        pos: usize,
        /// Positions in the cache.
        cached: usize,
    },
    /// No position is left.
    #[error("the KV cache is full: the model has {capacity} positions")]
    CacheFull {
        /// Positions of the model.
        capacity: usize,
    },
    /// A layer that the model does not have.
    #[error("there is no layer {layer}; the model has {layers} layers, counted from 0")]
    NoSuchLayer {
        /// The layer.
        layer: usize,
        /// Layers of the model.
        layers: usize,
    },
    /// An injected input with a wrong shape.
    #[error(
        "a block's input has shape {found:?}; it must be [positions, {width}] with 1 to {max} positions"
    )]
    BlockShape {
        /// The input's shape.
        found: Vec<usize>,
        /// Width of the residual stream.
        width: usize,
        /// The most positions that fit.
        max: usize,
    },
    /// A buffer of a program for which the host has no value.
    #[error(
        "program `{program}` needs `{arg}`, which the host does not have; the programs do not \
         match the runner"
    )]
    NoValue {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
    },
    /// A buffer with a type that the programs do not use.
    #[error("the device returned `{arg}` as {found}; every buffer of a decoder is bf16")]
    WrongDType {
        /// The argument.
        arg: &'static str,
        /// Its type.
        found: npugate_kernels::DType,
    },
    /// The device refused a call or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Values that do not fit their shape, on the device's side.
    #[error(transparent)]
    DeviceTensor(#[from] npugate_kernels::TensorError),
    /// Values that do not fit their shape, on the harness's side.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

impl From<RunnerError> for RunError {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Device(error) => run_error(error),
            error => Self::fault(error),
        }
    }
}

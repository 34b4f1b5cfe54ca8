//! What can go wrong while a decoder is set up or runs.

use npugate::{RunError, TensorError};
use npugate_kernel_cases::run_error;
use npugate_kernels::DeviceError;

/// A call that the decoder cannot do, or a device that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// Nothing to run.
    #[error("the prompt is empty; give it at least one token")]
    EmptyPrompt,
    /// More tokens than prefill is compiled for, though not more than the model has
    /// positions.
    #[error(
        "the prompt has {tokens} tokens, prefill is compiled for {max}; shorten it or set a larger \
         `seq_len` (the model has {positions} positions)"
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
    #[error("the prompt has {tokens} tokens, the model has {positions} positions; shorten it")]
    PromptBeyondModel {
        /// Tokens of the prompt.
        tokens: usize,
        /// Positions of the model.
        positions: usize,
    },
    /// A token without an embedding.
    #[error("token {token} is outside of the vocabulary of {vocab_size}")]
    TokenOutsideVocabulary {
        /// The token.
        token: u32,
        /// Entries of the vocabulary.
        vocab_size: usize,
    },
    /// Logits of positions that the prompt does not have.
    #[error("logits from position {from} on are asked for, the prompt has {positions} positions")]
    NoLogitRows {
        /// The first position asked for.
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
        /// The position asked for.
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
    #[error("there is no layer {layer}; the model has {layers}, counted from 0")]
    NoSuchLayer {
        /// The layer.
        layer: usize,
        /// Layers of the model.
        layers: usize,
    },
    /// An injected input of a wrong shape.
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
    /// A buffer of a program that the host has no value for.
    #[error(
        "program `{program}` wants `{arg}`, which the host does not have; the programs and the \
             runner do not fit together"
    )]
    NoValue {
        /// The program.
        program: String,
        /// The argument.
        arg: String,
    },
    /// A buffer of another type than the programs use.
    #[error("the device returned `{arg}` as {found}; every buffer of a decoder is bf16")]
    WrongDType {
        /// The argument.
        arg: &'static str,
        /// Its type.
        found: npugate_kernels::DType,
    },
    /// The device refused or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Values and a shape that do not belong together, on the device's side.
    #[error(transparent)]
    DeviceTensor(#[from] npugate_kernels::TensorError),
    /// Values and a shape that do not belong together, on the harness's side.
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

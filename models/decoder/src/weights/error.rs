//! What can be wrong with a weight file.

use npugate::{RunError, schema::Sha256};
use std::{io, path::PathBuf};

/// What is wrong with a weight file, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file is not on this machine.
    #[error("the weights of {model} ({file}) are not on this machine; {remedy}")]
    NotFetched {
        /// The adapter.
        model: String,
        /// File name.
        file: String,
        /// How to get it.
        remedy: String,
    },
    /// Not the file that the adapter was written for.
    #[error(
        "weights {} have sha256 {found}, but the adapter pins {pinned}; delete the file and \
         {remedy}",
        path.display()
    )]
    WrongDigest {
        /// The file.
        path: PathBuf,
        /// Its digest.
        found: Sha256,
        /// The digest that it should have.
        pinned: Sha256,
        /// How to get the right one.
        remedy: String,
    },
    /// A shard without a pinned digest, or a pinned shard that is not used.
    #[error(
        "weights {}: the index names the shards {found}, but the adapter pins {pinned}; pin a \
         sha256 for each shard",
        path.display()
    )]
    UnpinnedShards {
        /// The index.
        path: PathBuf,
        /// The shards in it.
        found: String,
        /// The shards that the adapter pins.
        pinned: String,
    },
    /// A file of an unknown kind.
    #[error(
        "weights {} are not of a known kind; use *.safetensors, *.safetensors.index.json or *.gguf",
        path.display()
    )]
    UnknownKind {
        /// The file.
        path: PathBuf,
    },
    /// A GGUF file, which this build does not read.
    #[error(
        "weights {} are a GGUF file, but npugate-decoder was built without its feature `gguf`; \
         enable it in the adapter's Cargo.toml",
        path.display()
    )]
    NoGguf {
        /// The file.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("weights {} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not a well-formed file of its kind.
    #[error("weights {} are malformed: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A tensor whose type cannot be turned into bf16.
    #[error("weights {}: {tensor} is {dtype}; store it as BF16, F16 or F32", path.display())]
    WrongDType {
        /// The file.
        path: PathBuf,
        /// The tensor's name in the file.
        tensor: String,
        /// Its type.
        dtype: String,
    },
    /// Tensors that the model needs are not in the file.
    #[error(
        "weights {} lack {count} of the model's tensors: {names}; does config.json belong to \
         another model?",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
        /// The first of them.
        names: String,
    },
    /// The file holds tensors that the model does not have, and the model would
    /// run without them.
    #[error(
        "weights {} hold {count} tensors that the model does not have: {names}; does config.json \
         belong to another model?",
        path.display()
    )]
    Extra {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
        /// The first of them.
        names: String,
    },
    /// A tensor whose shape is not the one that the configuration gives it.
    #[error(
        "weights {}: {tensor} has shape {found:?}, but config.json requires {expected:?}",
        path.display()
    )]
    WrongShape {
        /// The file.
        path: PathBuf,
        /// The tensor's name in the file.
        tensor: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The shape that it should have.
        expected: Vec<usize>,
    },
}

impl From<WeightsError> for RunError {
    /// A file that is missing, is not the pinned one or cannot be read says
    /// nothing about the port, so nothing can be judged. A pinned file that does
    /// not fit the configuration is the adapter's fault.
    fn from(error: WeightsError) -> Self {
        match error {
            WeightsError::NotFetched { .. }
            | WeightsError::WrongDigest { .. }
            | WeightsError::UnpinnedShards { .. }
            | WeightsError::NoGguf { .. }
            | WeightsError::Io { .. } => Self::setup(error),
            WeightsError::UnknownKind { .. }
            | WeightsError::Malformed { .. }
            | WeightsError::WrongDType { .. }
            | WeightsError::Missing { .. }
            | WeightsError::Extra { .. }
            | WeightsError::WrongShape { .. } => Self::fault(error),
        }
    }
}

//! Why goldens cannot be used. A missing golden is never a pass, so each message says
//! how to restore it.

use crate::schema::Sha256;
use std::{io, path::PathBuf};

/// Why goldens cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// The manifest names a file outside of its own folder.
    #[error(
        "the manifest in {} names `{file}`, which is not a file in the same folder; record the goldens of {model} again",
        folder.display()
    )]
    Outside {
        /// The goldens' folder.
        folder: PathBuf,
        /// The name.
        file: String,
        /// The model.
        model: String,
    },
    /// There is no manifest.
    #[error(
        "there are no goldens in {}: record them with `cargo npugate record {model}`",
        folder.display()
    )]
    NoManifest {
        /// Where they should be.
        folder: PathBuf,
        /// Whose they should be.
        model: String,
    },
    /// The manifest lists no files.
    #[error(
        "the manifest in {} lists no prompts: record them with `cargo npugate record {model}`",
        folder.display()
    )]
    NoPrompts {
        /// Where the manifest is.
        folder: PathBuf,
        /// Whose it is.
        model: String,
    },
    /// A file exists but cannot be read.
    #[error("the goldens cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The file is not a manifest.
    #[error(
        "{} is not a golden manifest ({source}): restore it from version control",
        path.display()
    )]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The manifest is of another version.
    #[error(
        "{} is in the format {found}, but this npugate reads {}: record the goldens again, or use the npugate that wrote them",
        path.display(), crate::schema::GOLDEN_SCHEMA
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
    },
    /// The manifest is that of another model.
    #[error(
        "{} has the goldens of {found}, not of {expected}: the adapter names the wrong fixtures folder",
        path.display()
    )]
    Model {
        /// The file.
        path: PathBuf,
        /// Whose goldens it has.
        found: String,
        /// Whose it should have.
        expected: String,
    },
    /// A prompt without per-layer goldens was asked for them.
    #[error(
        "prompt {prompt} has no per-layer goldens: only the diagnosis prompts of {model} have them"
    )]
    NoLayers {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
    },
    /// A file of the manifest is not there.
    #[error(
        "golden {} is missing; record it with `cargo npugate record {model}` or restore it from version control",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
    },
    /// A file is not the one in the manifest: its size differs.
    #[error(
        "golden {} does not match its manifest ({expected} bytes expected, {found} found); restore it from version control or record it again with `cargo npugate record {model}`",
        path.display()
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
        /// The size in the manifest.
        expected: u64,
        /// The size of the file.
        found: u64,
    },
    /// A file is not the one in the manifest: its digest differs.
    #[error(
        "golden {} does not match its manifest (sha256 {expected} expected, {found} found); restore it from version control or record it again with `cargo npugate record {model}`",
        path.display()
    )]
    Digest {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
        /// The digest in the manifest.
        expected: Sha256,
        /// The digest of the file.
        found: Sha256,
    },
    /// A file matches its manifest but is not in the safetensors format.
    #[error(
        "golden {} is not a safetensors file ({source}); record it again with `cargo npugate record {model}`",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
        /// What is wrong with it.
        source: safetensors::SafeTensorError,
    },
    /// A file matches its manifest, but a tensor in it is not as the format promises.
    #[error(
        "golden {}: tensor {tensor} {problem}; record it again with `cargo npugate record {model}`",
        path.display()
    )]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
        /// The tensor.
        tensor: String,
        /// What is wrong with it.
        problem: Box<TensorProblem>,
    },
}

/// What is wrong with a tensor of a golden file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TensorProblem {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// It has another dtype.
    #[error("is {found}, not {expected}")]
    Dtype {
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// It has another shape.
    #[error("has the shape {found:?}, not {expected:?}")]
    Shape {
        /// What it has.
        found: Vec<usize>,
        /// What it should have.
        expected: Vec<usize>,
    },
    /// It has no values.
    #[error("is empty")]
    Empty,
    /// It has values that are not finite.
    #[error("has {0}")]
    NonFinite(String),
    /// It has an id that is not a token.
    #[error("has {id} at index {index}, which is not a token of a vocabulary of {vocab}")]
    Token {
        /// Where.
        index: usize,
        /// What it has there.
        id: i32,
        /// Entries of the vocabulary.
        vocab: usize,
    },
    /// Its values are not in ascending order.
    #[error("is not ascending at index {0}")]
    Order(usize),
    /// It does not go from zero to the number of stored logits.
    #[error("goes from {first} to {last}, not from 0 to {expected}")]
    Bounds {
        /// Its first value.
        first: i32,
        /// Its last value.
        last: i32,
        /// The number of stored logits.
        expected: usize,
    },
    /// It disagrees with another record of the same thing.
    #[error("disagrees with {with} at index {index}")]
    Disagrees {
        /// The other record.
        with: &'static str,
        /// Where they first differ.
        index: usize,
    },
}

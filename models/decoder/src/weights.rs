//! The weights of a decoder as bf16 in Hugging Face's layout, whatever the
//! format of their file.

mod check;
mod digest;
mod error;
#[cfg(feature = "gguf")]
mod gguf;
mod safetensors;
mod tensor_id;

use crate::DecoderConfig;
use half::bf16;
use std::{collections::BTreeMap, path::Path};

pub use digest::{PinnedFile, verify_digest};
pub use error::WeightsError;
#[cfg(feature = "gguf")]
pub(crate) use gguf::Gguf;
pub use tensor_id::{LayerPart, TensorId, tensors};

/// A file of named tensors.
pub trait WeightSource: Send + Sync {
    /// Returns every tensor of the file: its name there, and its extents,
    /// outermost first.
    fn contents(&self) -> BTreeMap<String, Vec<usize>>;

    /// Returns the name of a tensor in the file.
    fn name(&self, tensor: TensorId) -> String;

    /// Reads the values of a tensor in Hugging Face's layout, `[out, in]` for a
    /// matrix, rounded to nearest even if they are wider than bf16 in the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or does not hold the tensor.
    fn read(&self, tensor: TensorId) -> Result<Vec<bf16>, WeightsError>;
}

/// Opens a weight file and checks that it holds all tensors of `config` and no
/// others. The file is a `*.gguf`, a `*.safetensors`, or the index of a sharded
/// checkpoint, `*.safetensors.index.json`.
///
/// Reads only names and shapes.
///
/// # Errors
///
/// Fails if the file cannot be read or is of another kind, or if a tensor is
/// missing, extra or of a wrong shape.
pub fn open(path: &Path, config: &DecoderConfig) -> Result<Box<dyn WeightSource>, WeightsError> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let source: Box<dyn WeightSource> = if has_ending(&name, ".gguf") {
        open_gguf(path, config)?
    } else if has_ending(&name, ".safetensors") {
        Box::new(safetensors::SafetensorsWeights::open_file(path)?)
    } else if has_ending(&name, ".safetensors.index.json") {
        Box::new(safetensors::SafetensorsWeights::open_index(path)?)
    } else {
        return Err(WeightsError::UnknownKind { path: path.to_owned() });
    };
    check::complete(path, source.as_ref(), config)?;
    Ok(source)
}

#[cfg(feature = "gguf")]
fn open_gguf(path: &Path, config: &DecoderConfig) -> Result<Box<dyn WeightSource>, WeightsError> {
    Ok(Box::new(gguf::GgufWeights::open(path, config)?))
}

#[cfg(not(feature = "gguf"))]
fn open_gguf(path: &Path, _: &DecoderConfig) -> Result<Box<dyn WeightSource>, WeightsError> {
    Err(WeightsError::NoGguf { path: path.to_owned() })
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.len() >= ending.len()
        && name.as_bytes()[name.len() - ending.len()..].eq_ignore_ascii_case(ending.as_bytes())
}

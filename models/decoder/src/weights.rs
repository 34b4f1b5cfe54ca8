//! The weights of a decoder in Hugging Face's layout and bf16, whatever file
//! they are in.

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
    /// Every tensor of the file: its name there, and its extents, outermost
    /// first.
    fn contents(&self) -> BTreeMap<String, Vec<usize>>;

    /// What the file calls a tensor.
    fn name(&self, tensor: TensorId) -> String;

    /// The values of a tensor in Hugging Face's layout, `[out, in]` for a
    /// matrix, rounded to nearest even where the file holds more than bf16.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or a tensor that is not in it.
    fn read(&self, tensor: TensorId) -> Result<Vec<bf16>, WeightsError>;
}

/// Opens a weight file and checks that it holds the tensors of `config`, all of
/// them and no others: `*.gguf`, `*.safetensors`, or the index of a sharded
/// checkpoint, `*.safetensors.index.json`.
///
/// Reads names and shapes alone.
///
/// # Errors
///
/// A file of another kind or that cannot be read; a missing tensor, an extra
/// one, a wrong shape.
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

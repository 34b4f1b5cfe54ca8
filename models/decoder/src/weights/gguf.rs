//! Weights in a GGUF file, dequantised by candle.

use super::{LayerPart, TensorId, WeightSource, WeightsError};
use crate::DecoderConfig;
use candle_core::{
    Device,
    quantized::gguf_file::{Content, Value},
};
use fs_err::File;
use half::bf16;
use std::{
    collections::BTreeMap,
    io::BufReader,
    path::{Path, PathBuf},
};

/// The only architecture whose names and row order are known here.
const ARCHITECTURE: &str = "llama";

/// A GGUF file whose header has been read.
pub(crate) struct Gguf {
    path: PathBuf,
    content: Content,
}

impl Gguf {
    /// Reads the header: metadata, names and shapes.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is not a GGUF file.
    pub(crate) fn open(path: &Path) -> Result<Self, WeightsError> {
        let file = File::open(path)
            .map_err(|source| WeightsError::Io { path: path.to_owned(), source })?;
        let content = Content::read(&mut BufReader::new(file)).map_err(|error| {
            WeightsError::Malformed { path: path.to_owned(), reason: error.to_string() }
        })?;
        Ok(Self { path: path.to_owned(), content })
    }

    /// Reads a value of the metadata.
    ///
    /// # Errors
    ///
    /// Fails if the key is missing or its value has another type.
    pub(crate) fn metadata<'a, T>(
        &'a self,
        key: &str,
        read: impl FnOnce(&'a Value) -> candle_core::Result<T>,
    ) -> Result<T, WeightsError> {
        let value =
            self.content.metadata.get(key).ok_or_else(|| self.malformed(key, &"missing"))?;
        read(value).map_err(|error| self.malformed(key, &error))
    }

    fn malformed(&self, what: &str, reason: &dyn std::fmt::Display) -> WeightsError {
        WeightsError::Malformed { path: self.path.clone(), reason: format!("{what}: {reason}") }
    }
}

/// A GGUF file of the model that a configuration describes.
pub(super) struct GgufWeights {
    gguf: Gguf,
    n_heads: usize,
    n_kv_heads: usize,
    head_dim: usize,
}

impl GgufWeights {
    pub(super) fn open(path: &Path, config: &DecoderConfig) -> Result<Self, WeightsError> {
        let gguf = Gguf::open(path)?;
        let key = "general.architecture";
        let architecture = gguf.metadata(key, Value::to_string)?;
        if architecture != ARCHITECTURE {
            let reason = format!("`{architecture}` is not `{ARCHITECTURE}`");
            return Err(gguf.malformed(key, &reason));
        }
        let model = &config.model;
        let (n_heads, n_kv_heads, head_dim) = (model.n_heads, model.n_kv_heads, model.head_dim);
        Ok(Self { gguf, n_heads, n_kv_heads, head_dim })
    }
}

impl WeightSource for GgufWeights {
    fn contents(&self) -> BTreeMap<String, Vec<usize>> {
        let tensors = self.gguf.content.tensor_infos.iter();
        tensors.map(|(name, info)| (name.clone(), info.shape.dims().to_vec())).collect()
    }

    fn name(&self, tensor: TensorId) -> String {
        match tensor {
            TensorId::Embedding => "token_embd.weight".to_owned(),
            TensorId::FinalNorm => "output_norm.weight".to_owned(),
            TensorId::LmHead => "output.weight".to_owned(),
            TensorId::Layer(layer, part) => format!("blk.{layer}.{}.weight", part_name(part)),
        }
    }

    fn read(&self, tensor: TensorId) -> Result<Vec<bf16>, WeightsError> {
        let name = self.name(tensor);
        // Each read opens the file itself, so that tensors can be read in parallel.
        let mut file = File::open(&self.gguf.path)
            .map_err(|source| WeightsError::Io { path: self.gguf.path.clone(), source })?;
        let values = self
            .gguf
            .content
            .tensor(&mut file, &name, &Device::Cpu)
            .and_then(|tensor| tensor.dequantize(&Device::Cpu))
            .and_then(|tensor| tensor.flatten_all()?.to_vec1::<f32>())
            .map_err(|error| self.gguf.malformed(&name, &error))?;
        Ok(match tensor {
            TensorId::Layer(_, LayerPart::Wq) => unpermute(&values, self.n_heads, self.head_dim),
            TensorId::Layer(_, LayerPart::Wk) => unpermute(&values, self.n_kv_heads, self.head_dim),
            _ => values.into_iter().map(bf16::from_f32).collect(),
        })
    }
}

fn part_name(part: LayerPart) -> &'static str {
    match part {
        LayerPart::AttnNorm => "attn_norm",
        LayerPart::Wq => "attn_q",
        LayerPart::Wk => "attn_k",
        LayerPart::Wv => "attn_v",
        LayerPart::Wo => "attn_output",
        LayerPart::MlpNorm => "ffn_norm",
        LayerPart::WGate => "ffn_gate",
        LayerPart::WUp => "ffn_up",
        LayerPart::WDown => "ffn_down",
    }
}

/// Puts the rows of a query or key projection back into Hugging Face's order.
///
/// llama.cpp rotates neighbouring rows of a head, while Hugging Face rotates row
/// `i` with row `i + head_dim / 2`. So llama.cpp's converter stored the rows of a
/// head as `[head_dim / 2, 2]` instead of `[2, head_dim / 2]`.
fn unpermute(values: &[f32], heads: usize, head_dim: usize) -> Vec<bf16> {
    // The shape has been checked: the rows are `heads * head_dim`.
    let row_len = values.len() / (heads * head_dim);
    let mut out = Vec::with_capacity(values.len());
    for head in values.chunks_exact(head_dim * row_len) {
        for parity in 0..2 {
            let rows = head.chunks_exact(row_len).skip(parity).step_by(2);
            out.extend(rows.flatten().map(|value| bf16::from_f32(*value)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_neighbours_become_the_halves_of_a_head() {
        // Two heads of four rows of one value: pairs (0, 1), (2, 3) are rotated.
        let stored = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0];
        let rows: Vec<f32> = unpermute(&stored, 2, 4).iter().map(|row| row.to_f32()).collect();
        assert_eq!(rows, [0.0, 2.0, 1.0, 3.0, 10.0, 12.0, 11.0, 13.0]);
    }
}

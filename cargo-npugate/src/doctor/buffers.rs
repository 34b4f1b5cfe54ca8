//! The memory that the weights of a model take on the device, from the manifest of its
//! goldens.

use npugate_schema::{Manifest, ModelConfig};
use std::path::Path;

/// A model, and the minimum size of its buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelBuffers {
    /// The model.
    pub model: String,
    /// The bytes of its weights in bf16. Activations and the KV cache come on top.
    pub bytes: u64,
}

impl ModelBuffers {
    /// Reads the manifest in a folder of goldens, if there is a readable one.
    pub fn read(goldens: &Path) -> Option<Self> {
        let text = fs_err::read(goldens.join("manifest.json")).ok()?;
        let manifest: Manifest = serde_json::from_slice(&text).ok()?;
        Some(Self { bytes: weights(&manifest.config), model: manifest.model })
    }
}

/// The bytes of the weights of a Llama-type decoder in bf16.
fn weights(config: &ModelConfig) -> u64 {
    let size = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let product = |a: usize, b: usize| size(a).saturating_mul(size(b));
    let attention = config.n_heads.saturating_mul(config.head_dim);
    let cache = config.n_kv_heads.saturating_mul(config.head_dim);
    let projections = [attention, cache, cache, attention].map(|n| product(config.hidden_size, n));
    let mlp = product(config.hidden_size, config.intermediate_size).saturating_mul(3);
    let norms = size(config.hidden_size).saturating_mul(2);
    let block = projections.into_iter().chain([mlp, norms]).fold(0, u64::saturating_add);
    let tables = if config.tie_word_embeddings { 1 } else { 2 };
    let embeddings = product(config.vocab_size, config.hidden_size).saturating_mul(tables);
    block
        .saturating_mul(size(config.n_layers))
        .saturating_add(embeddings)
        .saturating_add(size(config.hidden_size))
        .saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_smollm2_are_those_that_its_card_counts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/smollm2-135m");
        let buffers = ModelBuffers::read(&root).unwrap();
        // 134,515,008 parameters, as transformers counts them.
        assert_eq!(buffers, ModelBuffers { model: "smollm2-135m".into(), bytes: 269_030_016 });
    }

    #[test]
    fn a_folder_without_a_manifest_has_no_model() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ModelBuffers::read(folder.path()), None);
        std::fs::write(folder.path().join("manifest.json"), "{").unwrap();
        assert_eq!(ModelBuffers::read(folder.path()), None);
    }
}

//! `manifest.json` of a model's goldens: what they were recorded from, by what,
//! and the digest of every file. Only the recorder writes it.

use crate::Sha256;
use serde::{Deserialize, Serialize};

/// Version of the golden format.
pub const GOLDEN_SCHEMA: &str = "npugate-golden/1";

/// The goldens of one model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Manifest {
    /// [`GOLDEN_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = GOLDEN_SCHEMA)))]
    pub schema: String,
    /// The adapter's name.
    pub model: String,
    /// What the goldens were recorded from, and by what.
    pub reference: Reference,
    /// The reference's own configuration.
    pub config: ModelConfig,
    /// How far the bf16 reference is from the f32 one.
    pub noise: Noise,
    /// The prompts, in the order in which they are gated.
    pub prompts: Vec<Prompt>,
}

/// Provenance of the goldens.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Reference {
    /// The model's id on the Hugging Face hub, or a description of a synthetic model.
    pub model_id: String,
    /// Its revision, if it has one.
    pub revision: Option<String>,
    /// The weight files that were loaded.
    pub weights: Vec<WeightsProvenance>,
    /// Version of transformers.
    pub transformers: String,
    /// Version of torch.
    pub torch: String,
    /// Version of tokenizers.
    pub tokenizers: String,
    /// Version of Python.
    pub python: String,
    /// The arithmetic of b and r.
    pub dtype: ReferenceDtypes,
    /// Attention implementation of transformers.
    pub attn_implementation: String,
    /// Threads that torch used.
    pub threads: u32,
    /// The processor, since bf16 results depend on its instructions.
    pub cpu: serde_json::Value,
    /// Digest of the recorder's own sources.
    pub recorder_sha256: Sha256,
    /// The day of the recording, `YYYY-MM-DD`.
    pub date: String,
}

/// The arithmetic of the references.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct ReferenceDtypes {
    /// b: the reference implementation as it is deployed, `bfloat16`.
    pub b: String,
    /// q: b with the matrix products of the kernels' declared arithmetic,
    /// `bfp16`; none where the kernels declare bf16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// r: the truth, `float32`.
    pub r: String,
}

/// One weight file that the reference loaded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct WeightsProvenance {
    /// File name.
    pub file: String,
    /// Size.
    pub bytes: u64,
    /// Digest.
    pub sha256: Sha256,
}

/// The numbers of a decoder-only transformer that determine its kernels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct ModelConfig {
    /// Architecture name as transformers calls it: `llama`.
    pub architecture: String,
    /// Decoder blocks.
    pub n_layers: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the MLP.
    pub intermediate_size: usize,
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads.
    pub n_kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Entries of the vocabulary.
    pub vocab_size: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Added to the mean square in RMSNorm.
    pub rms_norm_eps: f64,
    /// Whether the LM head is the embedding.
    pub tie_word_embeddings: bool,
}

/// How far the bf16 reference b is from the f32 reference r.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Noise {
    /// Mean KL(r, b) in nats over all prompts and steps, full vocabulary.
    pub kl_rb_mean: f64,
    /// Its 95th percentile.
    pub kl_rb_p95: f64,
    /// Mean KL(r, q), where q is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kl_rq_mean: Option<f64>,
    /// Its 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kl_rq_p95: Option<f64>,
    /// The number of positions.
    pub positions: usize,
}

/// One prompt and its golden files.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Prompt {
    /// `set::pNN`, such as `instruct::p00`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Its token ids, with nothing added.
    pub ids: Vec<u32>,
    /// Token goldens: continuation, top-k, compact logits.
    pub tokens: GoldenFile,
    /// Per-layer goldens; recorded for the diagnosis prompts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<GoldenFile>,
}

/// A golden file in the same folder as the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct GoldenFile {
    /// File name, relative to the manifest.
    pub file: String,
    /// Size.
    pub bytes: u64,
    /// Digest; checked on every load.
    pub sha256: Sha256,
}

//! A small random model, written to files that the adapter reads.

use half::bf16;
use npugate::{
    Context,
    model::{Model, PrecisionProfile},
    schema::Sha256,
};
use npugate_decoder::{
    DecoderAdapter, DecoderRunner, DecoderSpec, Options, TokenizerSpec, WeightsSpec,
};
use safetensors::{Dtype, tensor::TensorView};
use std::{collections::BTreeMap, path::Path};
use tempfile::TempDir;

pub const LAYERS: usize = 2;
pub const HIDDEN: usize = 128;
pub const MLP: usize = 256;
pub const HEADS: usize = 4;
pub const KV_HEADS: usize = 2;
pub const HEAD_DIM: usize = 64;
/// Not a multiple of 8, so that the LM head is padded.
pub const VOCAB: usize = 300;
pub const EPS: f32 = 1e-5;
pub const THETA: f64 = 10_000.0;
pub const SEQ_LEN: usize = 256;
pub const MAX_POSITIONS: usize = 260;

/// Whether the LM head is the embedding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Head {
    Tied,
    Untied,
}

/// Tensors by Hugging Face's names, `[out, in]`, exact in bf16.
#[derive(Clone)]
pub struct Weights(pub BTreeMap<String, (Vec<usize>, Vec<f32>)>);

impl Weights {
    /// Random weights, with scales that keep the logits apart as in a trained model.
    pub fn random(head: Head) -> Self {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut tensors = BTreeMap::new();
        let mut add = |name: String, shape: &[usize], mean: f32, scale: f32| {
            let len = shape.iter().product();
            let values = (0..len).map(|_| round(mean + scale * random.normal())).collect();
            tensors.insert(name, (shape.to_vec(), values));
        };
        add("model.embed_tokens.weight".into(), &[VOCAB, HIDDEN], 0.0, 0.35);
        add("model.norm.weight".into(), &[HIDDEN], 1.0, 0.2);
        if head == Head::Untied {
            add("lm_head.weight".into(), &[VOCAB, HIDDEN], 0.0, 0.35);
        }
        let (q, kv) = (HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM);
        for layer in 0..LAYERS {
            for (part, shape) in [
                ("self_attn.q_proj", [q, HIDDEN]),
                ("self_attn.k_proj", [kv, HIDDEN]),
                ("self_attn.v_proj", [kv, HIDDEN]),
                ("self_attn.o_proj", [HIDDEN, q]),
                ("mlp.gate_proj", [MLP, HIDDEN]),
                ("mlp.up_proj", [MLP, HIDDEN]),
                ("mlp.down_proj", [HIDDEN, MLP]),
            ] {
                let scale = 1.5 / (shape[1] as f32).sqrt();
                add(format!("model.layers.{layer}.{part}.weight"), &shape, 0.0, scale);
            }
            for part in ["input_layernorm", "post_attention_layernorm"] {
                add(format!("model.layers.{layer}.{part}.weight"), &[HIDDEN], 1.0, 0.2);
            }
        }
        Self(tensors)
    }

    pub fn get(&self, name: &str) -> &[f32] {
        &self.0[name].1
    }

    /// Writes the tensors whose names `keep` accepts to a safetensors file.
    pub fn save(&self, path: &Path, keep: impl Fn(&str) -> bool) {
        let bytes: BTreeMap<&str, (Vec<usize>, Vec<u8>)> = self
            .0
            .iter()
            .filter(|(name, _)| keep(name))
            .map(|(name, (shape, values))| {
                let bytes = values.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes());
                (name.as_str(), (shape.clone(), bytes.collect()))
            })
            .collect();
        let views = bytes.iter().map(|(name, (shape, bytes))| {
            (*name, TensorView::new(Dtype::BF16, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize_to_file(views, None, path).unwrap();
    }
}

/// The nearest bf16 value.
pub fn round(value: f32) -> f32 {
    bf16::from_f32(value).to_f32()
}

struct Random(u64);

impl Random {
    /// Uniform in (0, 1), by xorshift64*.
    fn uniform(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 41;
        (bits as f32 + 0.5) / (1 << 23) as f32
    }

    /// Standard normal, by the Box-Muller transform.
    fn normal(&mut self) -> f32 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f32::consts::TAU * self.uniform()).cos()
    }
}

/// Token ids that use the whole vocabulary.
pub fn prompt(tokens: usize) -> Vec<u32> {
    (0..tokens).map(|index| ((index * 97 + 31) % VOCAB) as u32).collect()
}

pub fn config_json(head: Head) -> String {
    let tied = head == Head::Tied;
    format!(
        r#"{{"model_type": "llama", "num_hidden_layers": {LAYERS}, "hidden_size": {HIDDEN},
             "intermediate_size": {MLP}, "num_attention_heads": {HEADS},
             "num_key_value_heads": {KV_HEADS}, "head_dim": {HEAD_DIM}, "vocab_size": {VOCAB},
             "max_position_embeddings": {MAX_POSITIONS}, "rms_norm_eps": {EPS},
             "rope_theta": {THETA:.1}, "tie_word_embeddings": {tied}, "eos_token_id": 3}}"#
    )
}

/// A model in its own folder, which is removed when the model is dropped.
pub struct TestModel {
    pub weights: Weights,
    pub adapter: DecoderAdapter,
    _folder: TempDir,
}

impl TestModel {
    pub fn new(head: Head) -> Self {
        let (weights, folder) = (Weights::random(head), tempfile::tempdir().unwrap());
        let path = folder.path().join("model.safetensors");
        weights.save(&path, |_| true);
        let adapter = DecoderAdapter::try_new(spec(head, &path, &[])).unwrap();
        Self { weights, adapter, _folder: folder }
    }

    /// The runner of a run with settings such as `attention=host`.
    pub fn runner(&self, settings: &str) -> DecoderRunner {
        self.adapter.build_decoder(&context(settings)).unwrap()
    }
}

/// A spec for a weight file, with the file's actual size and digest.
pub fn spec(head: Head, weights: &Path, shards: &[&str]) -> DecoderSpec {
    let digest = |path: &Path| leak(Sha256::of_file(path).unwrap().to_string());
    let shards: Vec<(&str, &str)> = shards
        .iter()
        .map(|shard| (leak((*shard).to_owned()), digest(&weights.with_file_name(shard))))
        .collect();
    DecoderSpec {
        name: "test-model",
        config_json: leak(config_json(head)),
        weights: WeightsSpec {
            file: leak(weights.file_name().unwrap().to_string_lossy().into_owned()),
            bytes: weights.metadata().unwrap().len(),
            sha256: digest(weights),
            source: leak(format!("bundled:{}", weights.display())),
            shards: shards.leak(),
        },
        tokenizer: TokenizerSpec::File("tokenizer.json"),
        fixtures: "fixtures",
        options: Options::new(SEQ_LEN),
        profile: PrecisionProfile::Bfp16,
    }
}

/// A spec holds constants; those of a test live as long as its process.
fn leak(text: String) -> &'static str {
    text.leak()
}

pub fn context(settings: &str) -> Context {
    Context::on("emu").with_settings(settings.parse().unwrap())
}

/// The error of a model whose weights cannot be used.
pub fn weights_error(adapter: &DecoderAdapter) -> npugate::RunError {
    adapter.check_weights().unwrap_err()
}

/// Signal-to-noise ratio in decibels.
pub fn sqnr(found: &[f32], reference: &[f32]) -> f64 {
    assert_eq!(found.len(), reference.len());
    let energy = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    let signal = energy(&mut reference.iter().map(|r| f64::from(*r)));
    let pairs = found.iter().zip(reference);
    let noise = energy(&mut pairs.map(|(y, r)| f64::from(*y) - f64::from(*r)));
    10.0 * (signal / noise).log10()
}

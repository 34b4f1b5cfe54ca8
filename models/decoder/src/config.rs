//! The model's configuration, read from Hugging Face's `config.json`.

use npugate::schema::ModelConfig;
use serde::Deserialize;

/// Base of the rotary frequencies if `config.json` does not give one: the
/// default of transformers.
const DEFAULT_ROPE_THETA: f64 = 10_000.0;

/// The configuration of a decoder-only transformer of the Llama architecture,
/// from which its programs are built.
#[derive(Clone, PartialEq, Debug)]
pub struct DecoderConfig {
    /// The numbers that determine the kernels.
    pub model: ModelConfig,
    /// Positions that the model was trained for: the capacity of the KV cache.
    pub max_positions: usize,
    /// The tokens at which generation stops.
    pub stop_tokens: Vec<u32>,
}

/// Why no decoder can be built from a `config.json`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not JSON, or a number is missing.
    #[error("config.json cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A feature that this decoder does not support.
    #[error("config.json asks for {what}, which this decoder does not support; {instead}")]
    Unsupported {
        /// The feature, in the words of the file.
        what: String,
        /// What the decoder supports instead.
        instead: &'static str,
    },
    /// Two numbers that cannot both hold.
    #[error("config.json contradicts itself: {0}")]
    Contradiction(String),
}

/// Programs for more positions than the model has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the model has {max} positions (max_position_embeddings); programs for {seq_len} cannot be used"
)]
pub struct TooManyPositions {
    /// Positions that prefill would be compiled for.
    pub seq_len: usize,
    /// Positions of the model.
    pub max: usize,
}

impl DecoderConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a valid `config.json`, or if it asks for a
    /// feature that would change the results if it were ignored: another
    /// architecture, scaled rotary positions, biases or another activation.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let file: ConfigJson = serde_json::from_str(text)?;
        file.refuse_unsupported()?;
        let rope_theta = file.rope_theta()?;
        let n_kv_heads = file.num_key_value_heads.unwrap_or(file.num_attention_heads);
        let head_dim = file.head_dim()?;
        if n_kv_heads == 0 || !file.num_attention_heads.is_multiple_of(n_kv_heads) {
            return Err(ConfigError::Contradiction(format!(
                "{} query heads cannot share {n_kv_heads} key heads evenly",
                file.num_attention_heads
            )));
        }
        Ok(Self {
            model: ModelConfig {
                architecture: file.model_type,
                n_layers: file.num_hidden_layers,
                hidden_size: file.hidden_size,
                intermediate_size: file.intermediate_size,
                n_heads: file.num_attention_heads,
                n_kv_heads,
                head_dim,
                vocab_size: file.vocab_size,
                rope_theta,
                rms_norm_eps: file.rms_norm_eps,
                tie_word_embeddings: file.tie_word_embeddings,
            },
            max_positions: file.max_position_embeddings,
            stop_tokens: file.eos_token_id.map_or_else(Vec::new, Tokens::into_vec),
        })
    }

    /// Refuses programs for more positions than the model has: a prompt of that
    /// length could not run, and the programs might not fit anywhere.
    pub(crate) fn check_seq_len(&self, seq_len: usize) -> Result<(), TooManyPositions> {
        let max = self.max_positions;
        if seq_len > max { Err(TooManyPositions { seq_len, max }) } else { Ok(()) }
    }

    /// Width of all query heads: `n_heads * head_dim`, which need not be the
    /// width of the residual stream.
    pub fn q_width(&self) -> usize {
        self.model.n_heads * self.model.head_dim
    }

    /// Width of all key heads, and of all value heads: `n_kv_heads * head_dim`.
    pub fn kv_width(&self) -> usize {
        self.model.n_kv_heads * self.model.head_dim
    }
}

/// The fields of `config.json` that matter here, some of them only so that they
/// can be refused. Those left out do not change the results (dropout,
/// initialisation).
#[derive(Deserialize)]
struct ConfigJson {
    model_type: String,
    num_hidden_layers: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    vocab_size: usize,
    max_position_embeddings: usize,
    rms_norm_eps: f64,
    #[serde(default)]
    tie_word_embeddings: bool,
    rope_theta: Option<f64>,
    /// Where transformers 5 keeps the parameters of rotary positions.
    rope_parameters: Option<RopeParameters>,
    /// Where earlier versions keep only the scaling.
    rope_scaling: Option<RopeParameters>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    hidden_act: Option<String>,
    eos_token_id: Option<Tokens>,
}

#[derive(Deserialize)]
struct RopeParameters {
    rope_theta: Option<f64>,
    #[serde(alias = "type")]
    rope_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Tokens {
    One(u32),
    Many(Vec<u32>),
}

impl Tokens {
    fn into_vec(self) -> Vec<u32> {
        match self {
            Self::One(token) => vec![token],
            Self::Many(tokens) => tokens,
        }
    }
}

impl ConfigJson {
    fn refuse_unsupported(&self) -> Result<(), ConfigError> {
        let unsupported = |what: String, instead| Err(ConfigError::Unsupported { what, instead });
        if self.model_type != "llama" {
            let what = format!("the architecture `{}`", self.model_type);
            return unsupported(what, "it supports `llama`");
        }
        let scaled = self
            .rope_sections()
            .find_map(|rope| rope.rope_type.as_deref().filter(|rope_type| *rope_type != "default"));
        if let Some(rope_type) = scaled {
            let what = format!("rotary positions scaled by `{rope_type}`");
            return unsupported(what, "it rotates by unscaled positions");
        }
        if self.attention_bias || self.mlp_bias {
            return unsupported("biases".to_owned(), "its projections have none");
        }
        match self.hidden_act.as_deref() {
            None | Some("silu") => Ok(()),
            Some(other) => unsupported(format!("the activation `{other}`"), "it supports `silu`"),
        }
    }

    fn rope_sections(&self) -> impl Iterator<Item = &RopeParameters> {
        self.rope_parameters.iter().chain(&self.rope_scaling)
    }

    /// Returns the base of the rotary frequencies, wherever it is written.
    /// Fails if it is written twice with different values.
    fn rope_theta(&self) -> Result<f64, ConfigError> {
        let nested = self.rope_sections().filter_map(|rope| rope.rope_theta);
        let mut written = self.rope_theta.into_iter().chain(nested);
        let first = written.next().unwrap_or(DEFAULT_ROPE_THETA);
        #[expect(clippy::float_cmp, reason = "a number written twice must be the same")]
        match written.find(|other| *other != first) {
            None => Ok(first),
            Some(other) => {
                Err(ConfigError::Contradiction(format!("rope_theta is {first} and {other}")))
            }
        }
    }

    fn head_dim(&self) -> Result<usize, ConfigError> {
        match self.head_dim {
            Some(head_dim) if head_dim > 0 => Ok(head_dim),
            None if self.num_attention_heads > 0
                && self.hidden_size.is_multiple_of(self.num_attention_heads) =>
            {
                Ok(self.hidden_size / self.num_attention_heads)
            }
            _ => Err(ConfigError::Contradiction(format!(
                "a hidden size of {} is not divisible by {} heads; set head_dim",
                self.hidden_size, self.num_attention_heads
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// What `config.json` of `HuggingFaceTB/SmolLM2-135M-Instruct` says.
    fn smollm2() -> Value {
        json!({
            "architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 1,
            "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 576,
            "intermediate_size": 1536, "max_position_embeddings": 8192, "mlp_bias": false,
            "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
            "num_key_value_heads": 3, "rms_norm_eps": 1e-5, "rope_scaling": null,
            "rope_theta": 100_000, "tie_word_embeddings": true, "vocab_size": 49152
        })
    }

    fn read(json: &Value) -> Result<DecoderConfig, ConfigError> {
        DecoderConfig::from_json(&json.to_string())
    }

    fn with(key: &str, value: Value) -> Value {
        let mut json = smollm2();
        json[key] = value;
        json
    }

    #[test]
    fn smollm2_is_read_as_published() {
        let config = read(&smollm2()).unwrap();
        assert_eq!((config.model.head_dim, config.q_width(), config.kv_width()), (64, 576, 192));
        assert_eq!((config.stop_tokens, config.max_positions), (vec![2], 8192));
        assert!(config.model.tie_word_embeddings);
    }

    #[test]
    fn rope_theta_is_found_where_transformers_5_writes_it() {
        let mut json = with("rope_parameters", json!({"rope_theta": 5e5, "rope_type": "default"}));
        json.as_object_mut().unwrap().remove("rope_theta");
        let theta = |json| read(&json).unwrap().model.rope_theta;
        assert!((theta(json.clone()) - 5e5).abs() < 1e-9);
        json["rope_parameters"] = Value::Null;
        assert!((theta(json) - 1e4).abs() < 1e-9);
    }

    #[test]
    fn heads_may_be_wider_than_the_hidden_size() {
        let config = read(&with("head_dim", json!(128))).unwrap();
        assert_eq!(config.q_width(), 1152);
    }

    #[test]
    fn stop_tokens_may_be_a_list_or_missing() {
        let stop = |json| read(&json).unwrap().stop_tokens;
        assert_eq!(stop(with("eos_token_id", json!([2, 7]))), [2, 7]);
        assert!(stop(with("eos_token_id", Value::Null)).is_empty());
    }

    #[test]
    fn features_that_would_change_the_results_are_refused_by_name() {
        for (key, value, word) in [
            ("model_type", json!("qwen2"), "`qwen2`"),
            ("rope_scaling", json!({"type": "linear", "factor": 2.0}), "`linear`"),
            ("rope_parameters", json!({"rope_type": "llama3", "rope_theta": 1e5}), "`llama3`"),
            ("attention_bias", json!(true), "biases"),
            ("hidden_act", json!("gelu"), "`gelu`"),
            ("rope_parameters", json!({"rope_theta": 1.0}), "rope_theta is 100000 and 1"),
            ("num_attention_heads", json!(7), "set head_dim"),
            ("num_key_value_heads", json!(2), "9 query heads"),
            ("hidden_size", Value::Null, "cannot be read"),
        ] {
            let message = read(&with(key, value)).unwrap_err().to_string();
            assert!(message.contains(word), "{key}: {message}");
        }
    }
}

//! The tensors of a Llama decoder, their names and their shapes.

use crate::DecoderConfig;
use std::fmt;

/// One tensor of the model. Displays as Hugging Face's name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum TensorId {
    /// `[vocab, hidden]`; also the LM head of a model with tied embeddings.
    Embedding,
    /// A tensor of a decoder block.
    Layer(usize, LayerPart),
    /// Weight of the last norm, `[hidden]`.
    FinalNorm,
    /// `[vocab, hidden]`; only a model with untied embeddings has one.
    LmHead,
}

/// A tensor of a decoder block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum LayerPart {
    /// Weight of the norm before attention, `[hidden]`.
    AttnNorm,
    /// Query projection, `[heads * head_dim, hidden]`.
    Wq,
    /// Key projection, `[kv_heads * head_dim, hidden]`.
    Wk,
    /// Value projection, `[kv_heads * head_dim, hidden]`.
    Wv,
    /// Output projection of attention, `[hidden, heads * head_dim]`.
    Wo,
    /// Weight of the norm before the MLP, `[hidden]`.
    MlpNorm,
    /// Gate projection, `[intermediate, hidden]`.
    WGate,
    /// Up projection, `[intermediate, hidden]`.
    WUp,
    /// Down projection, `[hidden, intermediate]`.
    WDown,
}

impl LayerPart {
    /// All parts, in the order in which a block uses them.
    pub const ALL: [Self; 9] = [
        Self::AttnNorm,
        Self::Wq,
        Self::Wk,
        Self::Wv,
        Self::Wo,
        Self::MlpNorm,
        Self::WGate,
        Self::WUp,
        Self::WDown,
    ];

    /// Returns the name of the program argument that this tensor is written to.
    pub fn arg(self) -> &'static str {
        match self {
            Self::AttnNorm => "attn_norm_w",
            Self::Wq => "wq",
            Self::Wk => "wk",
            Self::Wv => "wv",
            Self::Wo => "wo",
            Self::MlpNorm => "mlp_norm_w",
            Self::WGate => "w_gate",
            Self::WUp => "w_up",
            Self::WDown => "w_down",
        }
    }

    /// Returns Hugging Face's name within a layer.
    fn hf_name(self) -> &'static str {
        match self {
            Self::AttnNorm => "input_layernorm",
            Self::Wq => "self_attn.q_proj",
            Self::Wk => "self_attn.k_proj",
            Self::Wv => "self_attn.v_proj",
            Self::Wo => "self_attn.o_proj",
            Self::MlpNorm => "post_attention_layernorm",
            Self::WGate => "mlp.gate_proj",
            Self::WUp => "mlp.up_proj",
            Self::WDown => "mlp.down_proj",
        }
    }

    /// Returns the extents, outermost first: `[out, in]` for a projection.
    pub fn shape(self, config: &DecoderConfig) -> Vec<usize> {
        let (hidden, mlp) = (config.model.hidden_size, config.model.intermediate_size);
        match self {
            Self::AttnNorm | Self::MlpNorm => vec![hidden],
            Self::Wq => vec![config.q_width(), hidden],
            Self::Wk | Self::Wv => vec![config.kv_width(), hidden],
            Self::Wo => vec![hidden, config.q_width()],
            Self::WGate | Self::WUp => vec![mlp, hidden],
            Self::WDown => vec![hidden, mlp],
        }
    }
}

impl TensorId {
    /// Returns the extents, outermost first.
    pub fn shape(self, config: &DecoderConfig) -> Vec<usize> {
        let model = &config.model;
        match self {
            Self::Embedding | Self::LmHead => vec![model.vocab_size, model.hidden_size],
            Self::FinalNorm => vec![model.hidden_size],
            Self::Layer(_, part) => part.shape(config),
        }
    }
}

impl fmt::Display for TensorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedding => f.write_str("model.embed_tokens.weight"),
            Self::FinalNorm => f.write_str("model.norm.weight"),
            Self::LmHead => f.write_str("lm_head.weight"),
            Self::Layer(layer, part) => write!(f, "model.layers.{layer}.{}.weight", part.hf_name()),
        }
    }
}

/// Returns every tensor of a model with this configuration.
pub fn tensors(config: &DecoderConfig) -> impl Iterator<Item = TensorId> {
    let layers = (0..config.model.n_layers)
        .flat_map(|layer| LayerPart::ALL.map(|part| TensorId::Layer(layer, part)));
    let head = (!config.model.tie_word_embeddings).then_some(TensorId::LmHead);
    [TensorId::Embedding, TensorId::FinalNorm].into_iter().chain(layers).chain(head)
}

//! Runs a decoder on a device: prefill, decode, single blocks.
//!
//! The host does what the NPU has no program for: embedding lookup, the KV
//! cache, attention of a decoded token, the final norm.

mod attention;
mod awake;
mod block;
mod decode;
mod error;
mod final_norm;
mod kv_cache;
mod layer_cache;
mod logits;
mod prefill;
mod rope_table;
mod setup;
mod stage;
mod tensors;
mod vocabulary;

use crate::{DecoderConfig, Options};
use half::bf16;
use npugate::{
    RunError, Tensor,
    model::{Block, Kv, Prefill, Probe, Runner, Usage},
};
use npugate_kernels::Device;

pub use error::RunnerError;

use attention::HostAttention;
use awake::awake;
use final_norm::FinalNorm;
use kv_cache::KvCache;
use rope_table::RopeTable;
use stage::LoadedStage;
use vocabulary::Vocabulary;

/// A decoder on a device, its weights in static buffers.
pub struct DecoderRunner {
    device: Box<dyn Device>,
    config: DecoderConfig,
    options: Options,
    stages: Stages,
    embedding: Vocabulary,
    final_norm: FinalNorm,
    rope: RopeTable,
    attention: HostAttention,
    cache: KvCache,
}

/// The stages of [`Programs`](crate::Programs), loaded. The buffer sets of a
/// block's stages are its layers, those of the LM head are its partitions.
struct Stages {
    rms_qkv_rope: LoadedStage,
    flash_attn: Option<LoadedStage>,
    o_ffn: LoadedStage,
    decode_rms_qkv_rope: LoadedStage,
    decode_o_ffn: LoadedStage,
    lm_head: LoadedStage,
}

impl DecoderRunner {
    /// Refuses a token that has no row in the embedding.
    fn check_token(&self, token: u32) -> Result<(), RunnerError> {
        let vocab_size = self.config.model.vocab_size;
        if (token as usize) < vocab_size {
            Ok(())
        } else {
            Err(RunnerError::TokenOutsideVocabulary { token, vocab_size })
        }
    }

    fn check_layer(&self, layer: usize) -> Result<(), RunnerError> {
        let layers = self.config.model.n_layers;
        if layer < layers { Ok(()) } else { Err(RunnerError::NoSuchLayer { layer, layers }) }
    }

    /// Returns the embedding of a token that has been checked, `[hidden]`.
    fn embed(&self, token: u32) -> &[bf16] {
        self.embedding.row(token)
    }
}

impl Runner for DecoderRunner {
    fn max_prefill(&self) -> usize {
        self.options.seq_len.min(self.cache.capacity())
    }

    fn prefill(&mut self, tokens: &[u32], probe: Probe) -> Result<Prefill, RunError> {
        Ok(awake(|| self.run_prefill(tokens, probe))?)
    }

    fn decode_step(&mut self, token: u32, pos: usize) -> Result<Vec<f32>, RunError> {
        Ok(awake(|| self.run_decode_step(token, pos))?)
    }

    fn block(&mut self, layer: usize, hidden: &Tensor) -> Result<Block, RunError> {
        Ok(self.run_block(layer, hidden)?)
    }

    fn kv(&mut self, layer: usize) -> Result<Kv, RunError> {
        self.check_layer(layer)?;
        Ok(self.cache.layer(layer).to_kv(self.cache.len())?)
    }

    fn usage(&self) -> Usage {
        let counters = self.device.counters();
        Usage::default()
            .ran(counters.dispatches, counters.run)
            .wrote(counters.bytes_written, counters.write)
            .read_back(counters.bytes_read, counters.read)
    }
}

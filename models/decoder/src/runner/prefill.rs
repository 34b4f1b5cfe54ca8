//! Prefill: a prompt through the whole stack.

use super::{DecoderRunner, RunnerError, tensors};
use half::bf16;
use npugate::{
    DType,
    model::{LogitRows, Prefill, Probe},
};
use npugate_kernels::{BufferSet, Tensor};

/// The token that pads a prompt to the length that prefill is compiled for. The
/// causal mask keeps real positions from seeing it.
const PADDING: u32 = 0;

impl DecoderRunner {
    pub(super) fn run_prefill(
        &mut self,
        tokens: &[u32],
        probe: Probe,
    ) -> Result<Prefill, RunnerError> {
        let (first_logits, positions) = (self.check_prompt(tokens, probe.logits)?, tokens.len());
        let (width, kv_width) = (self.config.model.hidden_size, self.config.kv_width());
        self.cache.clear();

        let mut hidden = self.embed_padded(tokens)?;
        let mut probed = Vec::new();
        for layer in 0..self.config.model.n_layers {
            let qkv = self.prefill_qkv(layer, &hidden)?;
            let keys = &tensors::values(&qkv.k, "k_rope")?[..positions * kv_width];
            let values = &tensors::values(&qkv.v, "v")?[..positions * kv_width];
            self.cache.append(layer, keys, values);
            let attn_ctx = self.prefill_attention(layer, &qkv, positions)?;
            let inputs = [("attn_ctx", &attn_ctx), ("hidden", &hidden)];
            let (stage, set) = (&self.stages.o_ffn, BufferSet(layer as u32));
            hidden = stage.run(self.device.as_mut(), set, &inputs, &[])?.take("out")?;
            if probe.hidden {
                probed.push(tensors::first_rows(&hidden, "out", positions)?);
            }
        }
        self.cache.advance(positions);

        let rows = &tensors::values(&hidden, "out")?[..positions * width];
        let final_norm = if probe.hidden {
            let normed: Vec<bf16> =
                rows.chunks_exact(width).flat_map(|row| self.final_norm.row(row)).collect();
            Some(tensors::to_harness(&normed, width)?)
        } else {
            None
        };
        let mut logits = Vec::new();
        for row in rows.chunks_exact(width).skip(first_logits) {
            self.push_logits(self.final_norm.row(row), &mut logits)?;
        }
        let shape = [positions - first_logits, self.config.model.vocab_size];
        let logits = npugate::Tensor::new(shape, DType::F32, logits)?;
        let prefill = Prefill::new(logits);
        Ok(match final_norm {
            Some(final_norm) => prefill.probed(probed, final_norm),
            None => prefill,
        })
    }

    /// Refuses a prompt that cannot be run. Returns the first position whose
    /// logits are wanted.
    fn check_prompt(&self, tokens: &[u32], rows: LogitRows) -> Result<usize, RunnerError> {
        let (positions, max) = (tokens.len(), npugate::model::Runner::max_prefill(self));
        if positions == 0 {
            return Err(RunnerError::EmptyPrompt);
        }
        let model = self.cache.capacity();
        if positions > model {
            return Err(RunnerError::PromptBeyondModel { tokens: positions, positions: model });
        }
        if positions > max {
            let (tokens, positions) = (positions, model);
            return Err(RunnerError::PromptTooLong { tokens, max, positions });
        }
        tokens.iter().try_for_each(|token| self.check_token(*token))?;
        match rows {
            LogitRows::Last => Ok(positions - 1),
            LogitRows::From(from) if from < positions => Ok(from),
            LogitRows::From(from) => Err(RunnerError::NoLogitRows { from, positions }),
        }
    }

    /// Returns the embeddings of the padded prompt, `[seq_len, hidden]`.
    fn embed_padded(&self, tokens: &[u32]) -> Result<Tensor, RunnerError> {
        let (seq_len, width) = (self.options.seq_len, self.config.model.hidden_size);
        let padding = std::iter::repeat_n(&PADDING, seq_len - tokens.len());
        let mut rows = Vec::with_capacity(seq_len * width);
        tokens.iter().chain(padding).for_each(|token| rows.extend_from_slice(self.embed(*token)));
        Ok(Tensor::bf16([seq_len, width], rows)?)
    }
}

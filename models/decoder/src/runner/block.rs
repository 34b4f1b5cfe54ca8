//! One decoder block on a padded sequence: what prefill runs for every layer,
//! and what a check runs on an injected input.

use super::{DecoderRunner, RunnerError, layer_cache::LayerCache, tensors};
use half::bf16;
use npugate::model::Block;
use npugate_kernels::{BufferSet, Tensor};

/// The outputs of a block's first stage, `[seq_len, width]` each; `q` and `k`
/// are rotated.
pub(super) struct Qkv {
    pub(super) q: Tensor,
    pub(super) k: Tensor,
    pub(super) v: Tensor,
}

impl DecoderRunner {
    /// Computes queries, keys and values from the residual stream,
    /// `[seq_len, hidden]`.
    pub(super) fn prefill_qkv(
        &mut self,
        layer: usize,
        hidden: &Tensor,
    ) -> Result<Qkv, RunnerError> {
        let (stage, set) = (&self.stages.rms_qkv_rope, BufferSet(layer as u32));
        let mut out = stage.run(self.device.as_mut(), set, &[("hidden", hidden)], &[])?;
        Ok(Qkv { q: out.take("q_rope")?, k: out.take("k_rope")?, v: out.take("v")? })
    }

    /// Computes attention per head, `[seq_len, heads * head_dim]`, on the NPU or
    /// on the host as the options say. The host leaves rows beyond `positions`
    /// zero.
    pub(super) fn prefill_attention(
        &mut self,
        layer: usize,
        qkv: &Qkv,
        positions: usize,
    ) -> Result<Tensor, RunnerError> {
        if let Some(stage) = &self.stages.flash_attn {
            let inputs = [("q_rope", &qkv.q), ("k_rope", &qkv.k), ("v", &qkv.v)];
            let set = BufferSet(layer as u32);
            return stage.run(self.device.as_mut(), set, &inputs, &[])?.take("attn_ctx");
        }
        let (q, real) = (tensors::values(&qkv.q, "q_rope")?, positions * self.config.kv_width());
        let keys = &tensors::values(&qkv.k, "k_rope")?[..real];
        let values = &tensors::values(&qkv.v, "v")?[..real];
        let mut layer = LayerCache::new(self.config.kv_width());
        layer.append(keys, values);
        let mut attn_ctx = vec![bf16::ZERO; q.len()];
        self.attention.causal(q, &layer, &mut attn_ctx);
        Ok(Tensor::bf16([self.options.seq_len, self.config.q_width()], attn_ctx)?)
    }

    pub(super) fn run_block(
        &mut self,
        layer: usize,
        hidden: &npugate::Tensor,
    ) -> Result<Block, RunnerError> {
        self.check_layer(layer)?;
        let (positions, hidden) = self.pad(hidden)?;
        let qkv = self.prefill_qkv(layer, &hidden)?;
        let attn_ctx = self.prefill_attention(layer, &qkv, positions)?;
        let inputs = [("attn_ctx", &attn_ctx), ("hidden", &hidden)];
        let (stage, set) = (&self.stages.o_ffn, BufferSet(layer as u32));
        let mut out = stage.run(self.device.as_mut(), set, &inputs, &["attn_out", "mlp_out"])?;
        let mut part = |name| tensors::first_rows(&out.take(name)?, name, positions);
        let (attn_out, mlp_out, out) = (part("attn_out")?, part("mlp_out")?, part("out")?);
        let attn_ctx = tensors::first_rows(&attn_ctx, "attn_ctx", positions)?;
        Ok(Block::new(attn_ctx, attn_out, mlp_out, out))
    }

    /// Rounds an injected input to bf16 and pads it with zeros to
    /// `[seq_len, hidden]`. Also returns the number of real rows.
    fn pad(&self, hidden: &npugate::Tensor) -> Result<(usize, Tensor), RunnerError> {
        let (width, seq_len) = (self.config.model.hidden_size, self.options.seq_len);
        let max = npugate::model::Runner::max_prefill(self);
        let positions = match *hidden.shape() {
            [positions, columns] if columns == width && (1..=max).contains(&positions) => positions,
            _ => {
                let found = hidden.shape().to_vec();
                return Err(RunnerError::BlockShape { found, width, max });
            }
        };
        let mut rows = Vec::with_capacity(seq_len * width);
        rows.extend(hidden.values().iter().map(|value| bf16::from_f32(*value)));
        rows.resize(seq_len * width, bf16::ZERO);
        Ok((positions, Tensor::bf16([seq_len, width], rows)?))
    }
}

//! Decode: one token after another.

use super::{DecoderRunner, RunnerError, tensors};
use half::bf16;
use npugate_kernels::{BufferSet, Tensor};

impl DecoderRunner {
    pub(super) fn run_decode_step(
        &mut self,
        token: u32,
        pos: usize,
    ) -> Result<Vec<f32>, RunnerError> {
        self.check_token(token)?;
        let (cached, capacity) = (self.cache.len(), self.cache.capacity());
        if pos != cached {
            return Err(RunnerError::WrongPosition { pos, cached });
        }
        if pos >= capacity {
            return Err(RunnerError::CacheFull { capacity });
        }
        let (width, head_dim) = (self.config.model.hidden_size, self.config.model.head_dim);
        let mut lut = Vec::with_capacity(head_dim);
        self.rope.push_row(pos, &mut lut);
        let lut = Tensor::bf16([1, head_dim], lut)?;
        let mut hidden = Tensor::bf16([1, width], self.embed(token))?;
        for layer in 0..self.config.model.n_layers {
            hidden = self.decode_layer(layer, &hidden, &lut)?;
        }
        self.cache.advance(1);
        let normed = self.final_norm.row(tensors::values(&hidden, "out")?);
        let mut logits = Vec::with_capacity(self.config.model.vocab_size);
        self.push_logits(normed, &mut logits)?;
        Ok(logits)
    }

    fn decode_layer(
        &mut self,
        layer: usize,
        hidden: &Tensor,
        lut: &Tensor,
    ) -> Result<Tensor, RunnerError> {
        let set = BufferSet(layer as u32);
        let inputs = [("hidden", hidden), ("rope_lut", lut)];
        let stage = &self.stages.decode_rms_qkv_rope;
        let mut qkv = stage.run(self.device.as_mut(), set, &inputs, &[])?;
        let (q, k, v) = (qkv.take("q_rope")?, qkv.take("k_rope")?, qkv.take("v")?);
        let (keys, values) = (tensors::values(&k, "k_rope")?, tensors::values(&v, "v")?);
        self.cache.append(layer, keys, values);

        let mut attn_ctx = vec![bf16::ZERO; self.config.q_width()];
        let q = tensors::values(&q, "q_rope")?;
        self.attention.attend(q, self.cache.layer(layer), &mut attn_ctx);

        let attn_ctx = Tensor::bf16([1, attn_ctx.len()], attn_ctx)?;
        let inputs = [("attn_ctx", &attn_ctx), ("hidden", hidden)];
        self.stages.decode_o_ffn.run(self.device.as_mut(), set, &inputs, &[])?.take("out")
    }
}

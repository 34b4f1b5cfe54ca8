//! The LM head over all partitions of the vocabulary.

use super::{DecoderRunner, RunnerError, tensors};
use half::bf16;
use npugate_kernels::{BufferSet, Tensor};

impl DecoderRunner {
    /// Computes the logits of one row after the final norm, `[vocab]`, and
    /// appends them to `logits`.
    pub(super) fn push_logits(
        &mut self,
        normed: Vec<bf16>,
        logits: &mut Vec<f32>,
    ) -> Result<(), RunnerError> {
        let model = &self.config.model;
        let normed = Tensor::bf16([model.hidden_size], normed)?;
        let end = logits.len() + model.vocab_size;
        let partitions = crate::programs::partitions(model.vocab_size).count;
        for partition in 0..partitions {
            let (stage, set) = (&self.stages.lm_head, BufferSet(partition as u32));
            let inputs = [("final_norm", &normed)];
            let part = stage.run(self.device.as_mut(), set, &inputs, &[])?.take("logits")?;
            let part = tensors::values(&part, "logits")?;
            // The last partition may reach beyond the vocabulary.
            let real = part.len().min(end - logits.len());
            logits.extend(part[..real].iter().map(|value| tensors::widen(*value)));
        }
        Ok(())
    }
}

//! The programs of a decoder, built from its configuration.
//!
//! | program | launches, each named after the argument that it writes |
//! |---|---|
//! | `rms_qkv_rope` | `attn_norm`, `q`, `k`, `v`, `q_rope`, `k_rope` |
//! | `flash_attn` | `attn_ctx` |
//! | `o_ffn` | `attn_out`, `mid`, `mlp_norm`, `gate`, `up`, `act`, `mlp_out`, `out` |
//! | `lm_head` | `logits` |
//!
//! Prefill runs the first three on `seq_len` rows with matrix products; decode
//! runs `decode_rms_qkv_rope` and `decode_o_ffn` on one row with matrix-vector
//! products, and attention on the host.

mod block;
mod builder;
mod leaf;
mod lm_head;

use crate::{Attention, DecoderConfig, Fusion, Options};
use npugate_kernels::{Launch, Program, ProgramError};

pub(crate) use lm_head::partitions;

/// The programs that run one after another between two pieces of host work:
/// one if launches are merged, one for each launch if they are not.
pub type Stage = Vec<Program>;

/// Every program of a decoder.
#[derive(Clone, PartialEq, Debug)]
pub struct Programs {
    /// Norm, projections and rotation of `seq_len` rows.
    pub rms_qkv_rope: Stage,
    /// Attention of `seq_len` rows; `None` if the host computes it.
    pub flash_attn: Option<Stage>,
    /// Output projection and MLP of `seq_len` rows.
    pub o_ffn: Stage,
    /// `rms_qkv_rope` of one row.
    pub decode_rms_qkv_rope: Stage,
    /// `o_ffn` of one row.
    pub decode_o_ffn: Stage,
    /// The LM head's product with one partition of the vocabulary.
    pub lm_head: Stage,
}

impl Programs {
    /// Builds and checks the programs.
    ///
    /// # Errors
    ///
    /// Fails if no kernel can be built for a shape, such as a `seq_len` that is
    /// not a multiple of FlashAttention's 256.
    pub fn new(config: &DecoderConfig, options: &Options) -> Result<Self, ProgramError> {
        #[cfg(test)]
        BUILT.set(BUILT.get() + 1);
        let prefill = block::Rows::Prefill { seq_len: options.seq_len, method: options.gemm };
        let stage = |program: Program| -> Result<Stage, ProgramError> {
            program.check()?;
            match options.fusion {
                Fusion::Merged => Ok(vec![program]),
                Fusion::Leaf => {
                    let leaves = leaf::split(&program);
                    leaves.iter().try_for_each(Program::check)?;
                    Ok(leaves)
                }
            }
        };
        let toolchain = options.toolchain;
        Ok(Self {
            rms_qkv_rope: stage(block::rms_qkv_rope(config, prefill, toolchain))?,
            flash_attn: match options.attention {
                Attention::Npu => {
                    Some(stage(block::flash_attn(config, options.seq_len, toolchain))?)
                }
                Attention::Host => None,
            },
            o_ffn: stage(block::o_ffn(config, prefill, toolchain))?,
            decode_rms_qkv_rope: stage(block::rms_qkv_rope(
                config,
                block::Rows::Decode,
                toolchain,
            ))?,
            decode_o_ffn: stage(block::o_ffn(config, block::Rows::Decode, toolchain))?,
            lm_head: stage(lm_head::lm_head(config, toolchain))?,
        })
    }

    /// Returns all programs, those of prefill first.
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        let prefill = self.rms_qkv_rope.iter().chain(self.flash_attn.iter().flatten());
        let decode = self.decode_rms_qkv_rope.iter().chain(&self.decode_o_ffn);
        prefill.chain(&self.o_ffn).chain(decode).chain(&self.lm_head)
    }

    /// Returns all launches of all programs, in the order in which they run.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.all().flat_map(|program| &program.launches)
    }
}

#[cfg(test)]
thread_local! {
    static BUILT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many times this thread has built programs.
#[cfg(test)]
pub(crate) fn built() -> usize {
    BUILT.get()
}

#[cfg(test)]
mod tests;

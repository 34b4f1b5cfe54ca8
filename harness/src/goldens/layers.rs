//! The per-layer goldens of a diagnosis prompt.

use super::GoldenError;
use super::file::Tensors;
use crate::schema::{ModelConfig, Prompt};
use crate::{Block, DType, Tensor};

/// The values of the references between the layers, for every position of the prompt.
#[derive(Clone, PartialEq, Debug)]
pub struct LayerGolden {
    /// b's embeddings: the first layer's input, `[positions, hidden]`.
    pub embed: Tensor,
    /// The layers, the first one first.
    pub layers: Vec<LayerTensors>,
    /// b after the final norm, `[positions, hidden]`.
    pub b_final: Tensor,
    /// r after the final norm, `[positions, hidden]`, f32.
    pub r_final: Tensor,
}

/// One layer of the references.
#[derive(Clone, PartialEq, Debug)]
pub struct LayerTensors {
    /// The bf16 reference.
    pub b: Block,
    /// The residual stream after this block in the f32 reference, which ran
    /// freely from the prompt: `[positions, hidden]`.
    pub r_hidden: Tensor,
    /// The f32 layer on b's own input, with which b and a device that is given b's input
    /// are both compared.
    pub injected: Parts,
    /// The bf16 layer with the matrix products of the kernels' declared
    /// arithmetic (q), on the same input; none where the kernels declare bf16.
    pub declared: Option<Parts>,
}

/// The parts of a block before they are added to the residual stream, computed
/// from b's input to that block.
#[derive(Clone, PartialEq, Debug)]
pub struct Parts {
    /// What attention computed per head, `[positions, heads * head_dim]`.
    pub attn_ctx: Tensor,
    /// The output projection, `[positions, hidden]`.
    pub attn_out: Tensor,
    /// The MLP's output, `[positions, hidden]`.
    pub mlp_out: Tensor,
}

impl LayerGolden {
    pub(super) fn read(
        tensors: &Tensors<'_>,
        prompt: &Prompt,
        config: &ModelConfig,
    ) -> Result<Self, GoldenError> {
        let positions = prompt.ids.len();
        let hidden = [positions, config.hidden_size];
        let context = [positions, config.n_heads * config.head_dim];
        let floats = |name: &str, dtype, shape: &[usize; 2]| tensors.floats(name, dtype, shape);
        let parts = |reference: &str, dtype, layer| {
            let part = |part, shape| floats(&name(reference, layer, part), dtype, shape);
            Ok(Parts {
                attn_ctx: part("attn_ctx", &context)?,
                attn_out: part("attn_out", &hidden)?,
                mlp_out: part("mlp_out", &hidden)?,
            })
        };
        // It is recorded for all layers or for none, so one tensor requires the rest.
        let has_declared = tensors.has_any("q.");
        let layer = |layer: usize| {
            let b = |part, shape| floats(&name("b", layer, part), DType::Bf16, shape);
            Ok(LayerTensors {
                b: Block {
                    hidden: b("hidden", &hidden)?,
                    attn_ctx: b("attn_ctx", &context)?,
                    attn_out: b("attn_out", &hidden)?,
                    mlp_out: b("mlp_out", &hidden)?,
                },
                r_hidden: floats(&name("r", layer, "hidden"), DType::F32, &hidden)?,
                injected: parts("i", DType::F32, layer)?,
                declared: has_declared.then(|| parts("q", DType::Bf16, layer)).transpose()?,
            })
        };
        Ok(Self {
            embed: floats("b.embed", DType::Bf16, &hidden)?,
            layers: (0..config.n_layers).map(layer).collect::<Result<_, _>>()?,
            b_final: floats("b.final", DType::Bf16, &hidden)?,
            r_final: floats("r.final", DType::F32, &hidden)?,
        })
    }
}

fn name(reference: &str, layer: usize, part: &str) -> String {
    format!("{reference}.layer.{layer:02}.{part}")
}

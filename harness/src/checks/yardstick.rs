//! The yardstick: the reference in the arithmetic that the kernels declare, b in
//! bf16 and q in BFP16. A correct port is about as far from r as its yardstick.

use crate::goldens::{CompactLogits, LayerTensors};
use crate::measured::Stop;
use crate::metrics::{kl_compact, kl_compact_to};
use crate::{PrecisionProfile, Tensor};

/// The yardstick's parts of a block.
pub(super) struct BlockYardstick<'a> {
    pub attn_ctx: &'a Tensor,
    pub attn_out: &'a Tensor,
    pub mlp_out: &'a Tensor,
}

impl<'a> BlockYardstick<'a> {
    pub fn of(golden: &'a LayerTensors, profile: PrecisionProfile) -> Result<Self, Stop> {
        match (profile, &golden.declared) {
            (PrecisionProfile::Bf16 | PrecisionProfile::Bf16Acc, _) => Ok(Self {
                attn_ctx: &golden.b.attn_ctx,
                attn_out: &golden.b.attn_out,
                mlp_out: &golden.b.mlp_out,
            }),
            (PrecisionProfile::Bfp16, Some(q)) => {
                Ok(Self { attn_ctx: &q.attn_ctx, attn_out: &q.attn_out, mlp_out: &q.mlp_out })
            }
            (PrecisionProfile::Bfp16, None) => Err(Stop::no_declared_reference()),
        }
    }
}

/// The yardstick's logits at one position.
pub(super) struct LogitYardstick<'a> {
    pub logits: &'a [f32],
    lse: f64,
}

impl<'a> LogitYardstick<'a> {
    pub fn of(golden: &'a CompactLogits, profile: PrecisionProfile) -> Result<Self, Stop> {
        match (profile, &golden.declared) {
            (PrecisionProfile::Bf16 | PrecisionProfile::Bf16Acc, _) => {
                Ok(Self { logits: &golden.b, lse: golden.b_lse })
            }
            (PrecisionProfile::Bfp16, Some(q)) => Ok(Self { logits: &q.logits, lse: q.lse }),
            (PrecisionProfile::Bfp16, None) => Err(Stop::no_declared_reference()),
        }
    }
}

/// The distances of the device and the references from r at one position, in nats.
pub(super) struct Divergence {
    /// KL(r, y).
    pub device: f64,
    /// KL(r, yardstick).
    pub yardstick: f64,
    /// KL(r, b).
    pub bf16: f64,
}

impl Divergence {
    pub fn of(
        golden: &CompactLogits,
        yardstick: &LogitYardstick<'_>,
        logits: &[f32],
    ) -> Result<Self, Stop> {
        let CompactLogits { ids, b, r, b_lse, r_lse, .. } = golden;
        let reference = |logits: &[f32], lse: f64| {
            kl_compact(ids, r, *r_lse, logits, lse)
                .map_err(|error| Stop::Invalid(format!("the golden logits: {error}")))
        };
        let device = kl_compact_to(ids, r, *r_lse, logits)
            .map_err(|error| Stop::Fail(format!("the device's logits: {error}")))?;
        Ok(Self {
            device,
            yardstick: reference(yardstick.logits, yardstick.lse)?,
            bf16: reference(b, *b_lse)?,
        })
    }
}

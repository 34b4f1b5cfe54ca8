//! Whether an op can be built with a tiling, and which to build it with.

use super::{
    Tiling,
    rule::{Broken, Illegal, Rule},
};
use crate::{
    kernel::KernelSpec,
    op::{Op, with_op},
    registry::Registry,
};

impl Tiling {
    /// Whether `op` can be built with this tiling.
    ///
    /// [`Op::check`] says whether the op itself has a kernel.
    ///
    /// # Errors
    /// The first [`Rule`] that is broken, with its numbers.
    pub fn check(&self, op: &Op) -> Result<(), Illegal> {
        with_op!(op, kernel => check(kernel, self)).map_err(|broken| self.illegal(op, broken))
    }

    /// Whether `op`, one of several `launches` of a program, can be built with this tiling, which
    /// is legal by itself.
    pub(crate) fn check_fused(&self, op: &Op, launches: usize) -> Result<(), Illegal> {
        let checked = with_op!(op, kernel => match self.try_into() {
            Ok(tiling) => kernel.check_fused(tiling, launches),
            Err(()) => Ok(()),
        });
        checked.map_err(|broken| self.illegal(op, broken))
    }

    /// What is reported to go wrong with this tiling of `op` in a program of several launches.
    pub(crate) fn fused_note(&self, op: &Op) -> Option<&'static str> {
        with_op!(op, kernel => kernel.fused_note(self.try_into().ok()?))
    }

    fn illegal(&self, op: &Op, Broken { rule, detail }: Broken) -> Illegal {
        let op = format!("{} {}", op.kernel(), op.shape_key());
        Illegal { rule, op, tiling: self.to_string(), detail }
    }

    /// The tiling to build `op` with: the one that was measured on silicon, if there is one, or
    /// else one that is [proposed](Self::propose).
    pub fn choose(op: &Op) -> Option<Self> {
        let measured = Registry::published().measured(op).ok().and_then(|row| row.tiling);
        // A row does not distinguish layouts.
        measured.filter(|tiling| tiling.check(op).is_ok()).or_else(|| Self::propose(op))
    }

    /// The first legal tiling in the kernel's order of preference. A proposal, not a measurement:
    /// it breaks no known rule, and nobody has seen it run.
    ///
    /// The order is that of the best measured rows: the most compute tiles first, then the largest
    /// tiles.
    ///
    /// `None` if no tiling in this order is legal: a GEMM of fewer than 16 rows has none.
    pub fn propose(op: &Op) -> Option<Self> {
        with_op!(op, kernel => kernel
            .tilings()
            .map(Self::from)
            .find(|tiling| check(kernel, tiling).is_ok()))
    }
}

/// What holds for all tilings, and then the kernel's own rules.
fn check<'a, K: KernelSpec>(kernel: &K, tiling: &'a Tiling) -> Result<(), Broken>
where
    K::Tiling: 'a,
    &'a K::Tiling: TryFrom<&'a Tiling>,
{
    let broken = |rule, detail: &str| Broken { rule, detail: detail.to_owned() };
    if tiling.extents().contains(&0) {
        return Err(broken(Rule::TileNotZero, "an extent is 0"));
    }
    let of_kernel = <&K::Tiling>::try_from(tiling);
    let another = |_| broken(Rule::TilingOfKernel, "the tiling belongs to another kernel");
    kernel.check_tiling(of_kernel.map_err(another)?)
}

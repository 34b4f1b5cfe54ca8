//! What a launch's tiling may be within its program.

use std::fmt;

use super::{Launch, Program};
use crate::{
    Gemm, GemmOutput, GemmTiling, Op, Tiling,
    tiling::{Illegal, Rule},
};

/// Something reported to go wrong that no rule refuses: it was seen in one model's build, not
/// isolated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TilingNote {
    /// Index of the launch.
    pub launch: usize,
    /// What was reported.
    pub text: &'static str,
}

impl fmt::Display for TilingNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "launch {}: {}", self.launch, self.text)
    }
}

impl Program {
    /// Checks the tiling of a launch, by itself and as one of several.
    pub(super) fn check_tiling(&self, launch: &Launch) -> Result<(), Illegal> {
        let Some(tiling) = &launch.tiling else { return Ok(()) };
        tiling.check(&launch.op)?;
        let (Op::Gemm(gemm), Tiling::Gemm(GemmTiling { tile_m, herd: [herd_m, _], .. })) =
            (&launch.op, tiling)
        else {
            return Ok(());
        };
        let external = gemm.output == GemmOutput::F32External;
        if self.launches.len() == 1 || !external || gemm.m == tile_m * herd_m {
            return Ok(());
        }
        Err(Illegal {
            rule: Rule::ExternalInFusedElf,
            op: format!("{} {}", launch.op.kernel(), launch.op.shape_key()),
            tiling: tiling.to_string(),
            detail: format!(
                "m = {} is more than tile_m * herd_m = {} in a program of {} launches",
                gemm.m,
                tile_m * herd_m,
                self.launches.len()
            ),
        })
    }

    /// What mlir-air's kernel registry reports to go wrong with tilings such as this program's.
    pub fn tiling_notes(&self) -> Vec<TilingNote> {
        if self.launches.len() == 1 {
            return Vec::new();
        }
        let launches = self.launches.iter().enumerate();
        launches
            .filter_map(|(launch, Launch { op, tiling, .. })| {
                let Op::Gemm(gemm) = op else { return None };
                note(gemm, tiling.as_ref()?).map(|text| TilingNote { launch, text })
            })
            .collect()
    }
}

fn note(gemm: &Gemm, tiling: &Tiling) -> Option<&'static str> {
    let Tiling::Gemm(tiling) = tiling else { return None };
    match gemm.output {
        _ if gemm.n == 896 && tiling.tile_n == 32 => Some(
            "tile_n = 32 at N = 896 had a mean_rel_l1 of 0.2 within the ELF of Qwen2.5-0.5B, and \
             9.4e-3 by itself",
        ),
        GemmOutput::Drain => Some(
            "a drain GEMM is reported to be broken in an ELF that is stitched of several launches",
        ),
        GemmOutput::F32External
        | GemmOutput::F32Direct
        | GemmOutput::FusedCast
        | GemmOutput::Direct => None,
    }
}

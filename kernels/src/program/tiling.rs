//! What a launch's tiling may be within its program.

use std::fmt;

use super::{Launch, Program};
use crate::tiling::Illegal;

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
        tiling.check_fused(&launch.op, self.launches.len())
    }

    /// What mlir-air's kernel registry reports to go wrong with tilings such as this program's.
    pub fn tiling_notes(&self) -> Vec<TilingNote> {
        if self.launches.len() == 1 {
            return Vec::new();
        }
        let launches = self.launches.iter().enumerate();
        launches
            .filter_map(|(launch, Launch { op, tiling, .. })| {
                tiling.as_ref()?.fused_note(op).map(|text| TilingNote { launch, text })
            })
            .collect()
    }
}

//! Where a row's figures come from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::toolchain::Toolchain;

/// What a row was measured on, when and by whom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measured {
    /// What ran the kernel.
    pub device: Target,
    /// What compiled it.
    #[cfg_attr(test, schemars(with = "super::schema::ToolchainSchema"))]
    pub toolchain: Toolchain,
    /// When: an ISO 8601 date, month or interval (`2026-06/2026-08`).
    pub date: String,
    /// Who published it, and where.
    pub source: String,
}

/// What can run a kernel of the registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Target {
    /// XDNA2 (Strix, AIE2P): silicon.
    Npu2,
    /// The emulated NPU: its accuracy is meaningful, its speed is not.
    Emu,
}

impl Target {
    /// Whether a configuration that was measured on it is known to work on hardware.
    pub const fn is_silicon(self) -> bool {
        matches!(self, Self::Npu2)
    }

    /// The name, as in the files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Npu2 => "npu2",
            Self::Emu => "emu",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

//! The registry's accuracy tiers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The registry's accuracy tier of a GEMM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Tier {
    /// f32 accumulation over all of K.
    High,
    /// C is re-rounded to bf16 along K.
    Low,
}

impl Tier {
    /// The name, as in the files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no tier has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a tier; choose `high` or `low`")]
pub struct UnknownTier(pub String);

impl std::str::FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        [Self::High, Self::Low]
            .into_iter()
            .find(|tier| tier.name() == s)
            .ok_or_else(|| UnknownTier(s.to_owned()))
    }
}

//! Whether a run is held against the accepted figures.

use std::str::FromStr;

/// Whether a run is held against the accepted figures. Known failures stay what they
/// are either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Baselines {
    /// A pass that got worse than its baseline has regressed.
    #[default]
    Compare,
    /// Every check stands on its own limits.
    Ignore,
}

impl FromStr for Baselines {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "compare" => Ok(Self::Compare),
            "ignore" => Ok(Self::Ignore),
            "save" => Err("`cargo npugate --baseline save` writes baselines, a gate reads them"),
            _ => Err("it is compare or ignore"),
        }
    }
}

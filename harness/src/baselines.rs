//! Whether a run is compared with the accepted figures.

use std::str::FromStr;

/// Whether a run is compared with the accepted figures. Known failures apply either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Baselines {
    /// A pass that got worse than its baseline has regressed.
    #[default]
    Compare,
    /// Every check is judged by its own limits alone.
    Ignore,
}

impl FromStr for Baselines {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "compare" => Ok(Self::Compare),
            "ignore" => Ok(Self::Ignore),
            "save" => {
                Err("a gate only reads baselines; `cargo npugate --baseline save` writes them")
            }
            _ => Err("it must be `compare` or `ignore`"),
        }
    }
}

//! The phases of a port: the first segment of a test's name.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The phases of a port, in the order in which an engineer works through them.
/// A test's phase is the first segment of its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// The goldens are present and unchanged.
    Goldens,
    /// The weights are present, complete and unchanged.
    Weights,
    /// The adapter's configuration is the reference's.
    Config,
    /// The adapter's tokenizer gives the reference's ids.
    Tokenizer,
    /// Each kernel at each shape.
    Kernel,
    /// Each decoder block on injected inputs.
    Block,
    /// The stack of blocks, layer by layer: the lens.
    Layers,
    /// The generated tokens.
    Tokens,
    /// The distribution over the vocabulary.
    Logits,
    /// The device against itself: decode against prefill.
    Consistency,
    /// Speed.
    Perf,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 11] = [
        Self::Goldens,
        Self::Weights,
        Self::Config,
        Self::Tokenizer,
        Self::Kernel,
        Self::Block,
        Self::Layers,
        Self::Tokens,
        Self::Logits,
        Self::Consistency,
        Self::Perf,
    ];

    /// The name as it stands in test names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goldens => "goldens",
            Self::Weights => "weights",
            Self::Config => "config",
            Self::Tokenizer => "tokenizer",
            Self::Kernel => "kernel",
            Self::Block => "block",
            Self::Layers => "layers",
            Self::Tokens => "tokens",
            Self::Logits => "logits",
            Self::Consistency => "consistency",
            Self::Perf => "perf",
        }
    }

    /// The phase of a test, read off its name.
    pub fn of(test: &str) -> Option<Self> {
        test.split("::").next()?.parse().ok()
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no phase.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not a phase; the phases are goldens, weights, config, tokenizer, kernel, block, layers, tokens, logits, consistency and perf"
)]
pub struct UnknownPhase(pub String);

impl FromStr for Phase {
    type Err = UnknownPhase;

    fn from_str(word: &str) -> Result<Self, UnknownPhase> {
        Self::ALL
            .into_iter()
            .find(|phase| phase.as_str() == word)
            .ok_or_else(|| UnknownPhase(word.to_owned()))
    }
}

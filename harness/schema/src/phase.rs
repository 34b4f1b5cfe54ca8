//! The phases of a port: the first segment of a test's name.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Makes [`Phase`] and its words.
macro_rules! phases {
    ($($(#[doc = $doc:literal])+ $phase:ident, $word:literal;)+) => {
        /// The phases of a port, in the order in which an engineer works through them.
        /// A test's phase is the first segment of its name.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Phase {
            $($(#[doc = $doc])+ $phase),+
        }

        impl Phase {
            /// Every phase, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$phase),+];

            /// The name as it stands in test names.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$phase => $word),+ }
            }
        }
    };
}

phases! {
    /// The goldens are present and unchanged.
    Goldens, "goldens";
    /// The weights are present, complete and unchanged.
    Weights, "weights";
    /// The adapter's configuration is the reference's.
    Config, "config";
    /// The adapter's tokenizer gives the reference's ids.
    Tokenizer, "tokenizer";
    /// Each kernel at each shape.
    Kernel, "kernel";
    /// Each decoder block on injected inputs.
    Block, "block";
    /// The stack of blocks, layer by layer: the lens.
    Layers, "layers";
    /// The generated tokens.
    Tokens, "tokens";
    /// The distribution over the vocabulary.
    Logits, "logits";
    /// The device against itself: decode against prefill.
    Consistency, "consistency";
    /// An adapter's own checks that are not in any of the other phases.
    Own, "own";
}

impl Phase {
    /// The phase of a test, by its name: [`Own`](Self::Own) if the first segment is not one
    /// of the other phases.
    pub fn of(test: &str) -> Self {
        let word = test.split("::").next().unwrap_or_default();
        word.parse().unwrap_or(Self::Own)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no phase.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a phase; the phases are {known}", known = words())]
pub struct UnknownPhase(pub String);

/// `goldens, weights and config`.
fn words() -> String {
    let words = Phase::ALL.map(Phase::as_str);
    let (last, others) = words.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
}

impl FromStr for Phase {
    type Err = UnknownPhase;

    fn from_str(word: &str) -> Result<Self, UnknownPhase> {
        Self::ALL
            .into_iter()
            .find(|phase| phase.as_str() == word)
            .ok_or_else(|| UnknownPhase(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tests_phase_is_the_first_part_of_its_name_or_own() {
        assert_eq!(Phase::of("block::layer00::cosine"), Phase::Block);
        assert_eq!(Phase::of("speed::decode"), Phase::Own);
        assert_eq!(Phase::of("own::decode"), Phase::Own);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = "kernle".parse::<Phase>().unwrap_err().to_string();
        assert!(error.starts_with("`kernle` is not a phase; the phases are goldens, weights,"));
        assert!(error.ends_with("consistency and own"), "{error}");
    }
}

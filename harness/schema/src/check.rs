//! The checks that a gate binary can plan, by the names that people ask about.

mod explanation;

use crate::nearest::nearest;
pub use explanation::{Explanation, Section};
use std::{fmt, str::FromStr};

/// A check: what one kind of test tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[non_exhaustive]
pub enum CheckId {
    /// Every golden file is there and unchanged.
    Goldens,
    /// The weights are complete, and those of the goldens.
    Weights,
    /// The configuration is the reference's.
    Config,
    /// The tokenizer gives the reference's ids.
    Tokenizer,
    /// One kernel at one shape.
    Kernel,
    /// Every value of a block is finite.
    BlockFinite,
    /// Whole-tensor cosine of a block.
    BlockCosine,
    /// Lowest cosine of a position of a block.
    BlockPerPosition,
    /// A block's own error in units of its yardstick's.
    BlockInjected,
    /// Every value of the stack is finite.
    LayersFinite,
    /// The layer table.
    LayersDrift,
    /// The token set of a prompt.
    Tokens,
    /// Flips of the best token beyond noise.
    TokensFlips,
    /// Divergence over the vocabulary.
    Logits,
    /// Decode's KV cache against prefill's.
    KvCache,
    /// Two runs give the same bits.
    RunToRun,
}

impl CheckId {
    /// Every check, in the order of the phases.
    pub const ALL: [Self; 16] = [
        Self::Goldens,
        Self::Weights,
        Self::Config,
        Self::Tokenizer,
        Self::Kernel,
        Self::BlockFinite,
        Self::BlockCosine,
        Self::BlockPerPosition,
        Self::BlockInjected,
        Self::LayersFinite,
        Self::LayersDrift,
        Self::Tokens,
        Self::TokensFlips,
        Self::Logits,
        Self::KvCache,
        Self::RunToRun,
    ];

    /// What it is asked for by: a phase, or a phase and the kind of its test.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goldens => "goldens",
            Self::Weights => "weights",
            Self::Config => "config",
            Self::Tokenizer => "tokenizer",
            Self::Kernel => "kernel",
            Self::BlockFinite => "block::finite",
            Self::BlockCosine => "block::cosine",
            Self::BlockPerPosition => "block::per_position",
            Self::BlockInjected => "block::injected",
            Self::LayersFinite => "layers::finite",
            Self::LayersDrift => "layers::drift",
            Self::Tokens => "tokens",
            Self::TokensFlips => "tokens::flips",
            Self::Logits => "logits",
            Self::KvCache => "consistency::kv_cache",
            Self::RunToRun => "consistency::run_to_run",
        }
    }

    /// The check of a test, read off its name; `None` for a test that is of no check
    /// of this crate.
    pub fn of(test: &str) -> Option<Self> {
        let (phase, rest) = test.split_once("::")?;
        Some(match (phase, rest) {
            (_, "") => return None,
            ("goldens", "complete") => Self::Goldens,
            ("weights", "complete") => Self::Weights,
            ("config", "matches_reference") => Self::Config,
            ("tokenizer", "matches_reference") => Self::Tokenizer,
            ("kernel", _) => Self::Kernel,
            ("block", rest) => match rest.split_once("::")? {
                (_, "finite") => Self::BlockFinite,
                (_, "cosine") => Self::BlockCosine,
                (_, "per_position") => Self::BlockPerPosition,
                (_, "injected") => Self::BlockInjected,
                _ => return None,
            },
            ("layers", "finite") => Self::LayersFinite,
            ("layers", "drift") => Self::LayersDrift,
            ("tokens", "flips" | "flips_all") => Self::TokensFlips,
            ("tokens", _) => Self::Tokens,
            ("logits", _) => Self::Logits,
            ("consistency", "kv_cache") => Self::KvCache,
            ("consistency", "run_to_run") => Self::RunToRun,
            _ => return None,
        })
    }

    /// What there is to say about it.
    pub fn explanation(self) -> Explanation {
        Explanation::parse(match self {
            Self::Goldens => include_str!("check/goldens.md"),
            Self::Weights => include_str!("check/weights.md"),
            Self::Config => include_str!("check/config.md"),
            Self::Tokenizer => include_str!("check/tokenizer.md"),
            Self::Kernel => include_str!("check/kernel.md"),
            Self::BlockFinite => include_str!("check/block_finite.md"),
            Self::BlockCosine => include_str!("check/block_cosine.md"),
            Self::BlockPerPosition => include_str!("check/block_per_position.md"),
            Self::BlockInjected => include_str!("check/block_injected.md"),
            Self::LayersFinite => include_str!("check/layers_finite.md"),
            Self::LayersDrift => include_str!("check/layers_drift.md"),
            Self::Tokens => include_str!("check/tokens.md"),
            Self::TokensFlips => include_str!("check/tokens_flips.md"),
            Self::Logits => include_str!("check/logits.md"),
            Self::KvCache => include_str!("check/consistency_kv_cache.md"),
            Self::RunToRun => include_str!("check/consistency_run_to_run.md"),
        })
    }
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no check.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{word}` is neither a check nor a test of one; the nearest check is {nearest}")]
pub struct UnknownCheck {
    /// The word.
    pub word: String,
    /// The check whose name is nearest to it.
    pub nearest: &'static str,
}

impl FromStr for CheckId {
    type Err = UnknownCheck;

    /// A check's own name, or the whole name of a test of it.
    fn from_str(word: &str) -> Result<Self, UnknownCheck> {
        let named = Self::ALL.into_iter().find(|check| check.as_str() == word);
        named.or_else(|| Self::of(word)).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str);
            UnknownCheck { word: word.to_owned(), nearest: nearest(word, &names) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_is_read_back_from_its_name() {
        for check in CheckId::ALL {
            assert_eq!(check.to_string().parse(), Ok(check));
        }
    }

    #[test]
    fn a_test_name_leads_to_its_check() {
        for (name, check) in [
            ("block::layer07::injected", CheckId::BlockInjected),
            ("kernel::gemm::256x576x1536::high", CheckId::Kernel),
            ("tokens::instruct::p00", CheckId::Tokens),
            ("tokens::flips_all", CheckId::TokensFlips),
            ("logits::decode_all", CheckId::Logits),
            ("consistency::run_to_run", CheckId::RunToRun),
        ] {
            assert_eq!(CheckId::of(name), Some(check), "{name}");
            assert_eq!(name.parse(), Ok(check));
        }
        for name in ["", "kernel", "kernel::", "block::layer00::vibes", "perf::decode", "a::b"] {
            assert_eq!(CheckId::of(name), None, "{name}");
        }
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_check() {
        let error = "block::injekted".parse::<CheckId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`block::injekted` is neither a check nor a test of one; the nearest check is block::injected"
        );
        assert_eq!("kv_cache".parse::<CheckId>().unwrap_err().nearest, "consistency::kv_cache");
        assert_eq!("token".parse::<CheckId>().unwrap_err().nearest, "tokens");
    }

    #[test]
    fn every_explanation_has_all_sections() {
        for check in CheckId::ALL {
            let explanation = check.explanation();
            assert!(!explanation.title.is_empty(), "{check}");
            let titles: Vec<_> = explanation.sections.iter().map(|section| section.title).collect();
            assert_eq!(titles, Section::TITLES, "{check}");
            for section in &explanation.sections {
                assert!(section.text.len() > 20, "{check}: {}", section.title);
            }
        }
    }
}

//! The checks that a gate binary can plan: one table, which the command reads for
//! `--explain` and the harness runs.

mod explanation;
mod pattern;

use crate::Phase;
use crate::nearest::nearest;
pub use explanation::{Explanation, Section};
pub use pattern::Pattern;
use std::{fmt, str::FromStr};

/// Makes [`CheckId`] and what is known of each from the table below.
macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $id:ident, $name:literal, $tests:literal, $text:literal;)+) => {
        /// A check, which is what one kind of test tests.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        #[non_exhaustive]
        pub enum CheckId {
            $($(#[doc = $doc])+ $id),+
        }

        impl CheckId {
            /// Every check, in the order of the phases.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$id),+];

            /// The name by which users ask for it: a phase, or a phase and the kind of its
            /// test.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$id => $name),+ }
            }

            /// The names of its tests.
            pub fn pattern(self) -> Pattern {
                match self { $(Self::$id => const { Pattern::new($tests) }),+ }
            }

            /// Its explanation.
            pub fn explanation(self) -> Explanation {
                Explanation::parse(match self { $(Self::$id => include_str!($text)),+ })
            }
        }
    };
}

// Each row: a check, its name for `--explain`, the names of its tests (see `Pattern`), and
// the file with its explanation. The phase of a check is the first part of its tests' names.
checks! {
    /// Every golden file is there and unchanged.
    Goldens, "goldens", "goldens::complete", "check/goldens.md";
    /// The weights are complete, and the goldens were recorded from them.
    Weights, "weights", "weights::complete", "check/weights.md";
    /// The configuration is the reference's.
    Config, "config", "config::matches_reference", "check/config.md";
    /// The tokenizer gives the reference's ids.
    Tokenizer, "tokenizer", "tokenizer::matches_reference", "check/tokenizer.md";
    /// One kernel at one shape.
    Kernel, "kernel", "kernel::{kernel}", "check/kernel.md";
    /// Every value of a block is finite.
    BlockFinite, "block::finite", "block::layer{layer}::finite", "check/block_finite.md";
    /// Whole-tensor cosine of a block.
    BlockCosine, "block::cosine", "block::layer{layer}::cosine", "check/block_cosine.md";
    /// Lowest cosine of a position of a block.
    BlockPerPosition, "block::per_position", "block::layer{layer}::per_position",
        "check/block_per_position.md";
    /// A block's own error in units of its yardstick's.
    BlockInjected, "block::injected", "block::layer{layer}::injected", "check/block_injected.md";
    /// Every value of the stack is finite.
    LayersFinite, "layers::finite", "layers::finite", "check/layers_finite.md";
    /// The layer table.
    LayersDrift, "layers::drift", "layers::drift", "check/layers_drift.md";
    /// The token set of a prompt.
    Tokens, "tokens", "tokens::{prompt}", "check/tokens.md";
    /// Flips of the best token beyond noise.
    TokensFlips, "tokens::flips", "tokens::{flips|flips_all}", "check/tokens_flips.md";
    /// Divergence over the vocabulary.
    Logits, "logits", "logits::{prefill|decode|decode_all}", "check/logits.md";
    /// Decode's KV cache against prefill's.
    KvCache, "consistency::kv_cache", "consistency::kv_cache", "check/consistency_kv_cache.md";
    /// Two runs give the same bits.
    RunToRun, "consistency::run_to_run", "consistency::run_to_run",
        "check/consistency_run_to_run.md";
}

impl CheckId {
    /// The check to which a test belongs, by the test's name; `None` if it belongs to none
    /// of this table.
    pub fn of(test: &str) -> Option<Self> {
        let checks = Self::ALL.into_iter().filter(|check| check.pattern().matches(test));
        // A check that spells the name out wins over one that accepts any text.
        checks.min_by_key(|check| check.pattern().is_open())
    }

    /// Its phase.
    pub fn phase(self) -> Phase {
        Phase::of(self.pattern().as_str())
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
            ("block::layer107::injected", CheckId::BlockInjected),
            ("kernel::gemm::256x576x1536::high", CheckId::Kernel),
            ("tokens::instruct::p00", CheckId::Tokens),
            ("tokens::flips_all", CheckId::TokensFlips),
            ("logits::decode_all", CheckId::Logits),
            ("consistency::run_to_run", CheckId::RunToRun),
        ] {
            assert_eq!(CheckId::of(name), Some(check), "{name}");
            assert_eq!(name.parse(), Ok(check));
        }
        for name in ["", "kernel", "kernel::", "block::layer00::vibes", "own::decode", "a::b"] {
            assert_eq!(CheckId::of(name), None, "{name}");
        }
    }

    #[test]
    fn the_checks_are_in_the_order_of_the_phases_which_they_are_named_by() {
        let phases = CheckId::ALL.map(CheckId::phase);
        assert!(phases.is_sorted());
        for (check, phase) in CheckId::ALL.into_iter().zip(phases) {
            assert_eq!(check.as_str().split("::").next(), Some(phase.as_str()));
        }
        let named = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Own);
        assert!(named.into_iter().all(|phase| phases.contains(&phase)), "a phase without a check");
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

//! The table of the built-in checks: which tests each check has, what they need, how long
//! they may take and what runs them. The names and explanations of the checks are in the
//! rows of [`CheckId`]'s table, in the same order.

use super::{block, consistency, integrity, kernel, layers, logits, tokens};
use crate::check::{Needs, Set};
use crate::measured::CheckResult;
use crate::schema::{CheckId, TimeLimits};
use crate::session::Session;

/// Runs a test.
pub(crate) type Run = fn(&mut Session) -> CheckResult;

/// Runs the test of one kernel, layer or prompt, by its index.
pub(crate) type RunAt = fn(&mut Session, usize) -> CheckResult;

/// A built-in check.
pub(crate) struct BuiltIn {
    pub id: CheckId,
    pub needs: Needs,
    pub limits: TimeLimits,
    pub tests: Tests,
}

/// The tests of a check.
pub(crate) enum Tests {
    /// One.
    One(Set, Run),
    /// One for each kernel of the adapter.
    Kernels(RunAt),
    /// One for each layer of the model.
    Layers(RunAt),
    /// One for each prompt of the manifest: by default for the first
    /// [`DEFAULT_PROMPTS`](super::prompts::DEFAULT_PROMPTS).
    Prompts(RunAt),
    /// One for each word of the check's pattern.
    Words(&'static [(&'static str, Set, Run)]),
}

/// For a check that reads files or runs a kernel. On two cores with the emulated NPU, a
/// kernel was measured to take up to 3 s; an unoptimised build or a busy machine may take
/// ten times as long, and the timeout is another ten times that.
const SHORT: TimeLimits = TimeLimits { slow: 30, timeout: 300 };

/// For a check that runs the model: the first test that needs a forward pass, which the
/// others then share, takes up to 10 s where a kernel takes 3.
const LONG: TimeLimits = TimeLimits { slow: 60, timeout: 1800 };

const fn row(id: CheckId, needs: Needs, limits: TimeLimits, tests: Tests) -> BuiltIn {
    BuiltIn { id, needs, limits, tests }
}

/// Every built-in check. Tests run in the order of the phases; within a phase they run
/// layer by layer, then in the order of this table.
pub(crate) const BUILT_IN: [BuiltIn; CheckId::ALL.len()] = {
    use CheckId as Id;
    use Needs::{Nothing, Weights};
    use Tests::{Kernels, Layers, One, Prompts, Words};
    [
        row(Id::Goldens, Nothing, SHORT, One(Set::Default, integrity::goldens)),
        row(Id::Weights, Weights, SHORT, One(Set::Default, integrity::weights)),
        row(Id::Config, Nothing, SHORT, One(Set::Default, integrity::config)),
        row(Id::Tokenizer, Weights, SHORT, One(Set::Default, integrity::tokenizer)),
        row(Id::Kernel, Nothing, SHORT, Kernels(kernel::check)),
        row(Id::BlockFinite, Weights, LONG, Layers(block::finite)),
        row(Id::BlockCosine, Weights, LONG, Layers(block::cosine)),
        row(Id::BlockPerPosition, Weights, LONG, Layers(block::per_position)),
        row(Id::BlockInjected, Weights, LONG, Layers(block::injected)),
        row(Id::LayersFinite, Weights, LONG, One(Set::Default, layers::finite)),
        row(Id::LayersDrift, Weights, LONG, One(Set::Default, layers::drift)),
        row(Id::Tokens, Weights, LONG, Prompts(tokens::token_set)),
        row(
            Id::TokensFlips,
            Weights,
            LONG,
            Words(&[
                ("flips", Set::Default, tokens::flips),
                ("flips_all", Set::Full, tokens::flips_all),
            ]),
        ),
        row(
            Id::Logits,
            Weights,
            LONG,
            Words(&[
                ("prefill", Set::Default, logits::prefill),
                ("decode", Set::Default, logits::decode),
                ("decode_all", Set::Full, logits::decode_all),
            ]),
        ),
        row(Id::KvCache, Weights, LONG, One(Set::Default, consistency::kv_cache)),
        row(Id::RunToRun, Weights, LONG, One(Set::Full, consistency::run_to_run)),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_have_the_same_checks_in_the_same_order() {
        assert_eq!(BUILT_IN.map(|check| check.id), CheckId::ALL);
    }

    #[test]
    fn the_words_of_a_check_are_those_of_its_pattern() {
        for check in BUILT_IN {
            let Tests::Words(words) = check.tests else { continue };
            let words: Vec<_> = words.iter().map(|(word, ..)| *word).collect();
            let pattern = check.id.pattern().as_str();
            assert!(pattern.contains(&format!("{{{}}}", words.join("|"))), "{pattern}: {words:?}");
        }
    }
}

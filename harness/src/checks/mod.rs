//! The checks: one file for each kind, each a function from a [`Session`] to
//! what it measured. [`Check`] says which check a test is.

mod block;
mod consistency;
#[cfg(test)]
mod explained;
mod forced;
mod integrity;
mod kernel;
mod layers;
mod logits;
mod tokens;
mod yardstick;

use crate::schema::TimeLimits;
use crate::session::Session;
use crate::verdict::CheckResult;
pub(crate) use block::{BlockFigures, BlockGate};
pub(crate) use forced::Forced;
pub(crate) use logits::Path as LogitPath;

/// Which prompts of the manifest a check covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prompts {
    /// The first [`DEFAULT_PROMPTS`].
    Default,
    /// Every prompt.
    All,
}

/// The token gate's default number of prompts, as in MLIR-AIR's CI.
pub(crate) const DEFAULT_PROMPTS: usize = 2;

/// What a test checks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    /// Every golden file is present and unchanged.
    Goldens,
    /// Every tensor of the weights is present with its shape.
    Weights,
    /// The adapter's configuration is the reference's.
    Config,
    /// The adapter's tokenizer gives the reference's ids.
    Tokenizer,
    /// One kernel at one shape: index into the adapter's list.
    Kernel(usize),
    /// One block on injected inputs.
    Block {
        /// Which block.
        layer: usize,
        /// Which gate.
        gate: BlockGate,
    },
    /// Every hidden state of the stack is finite.
    LayersFinite,
    /// The layer table: the lens, never a verdict.
    LayersDrift,
    /// The token set of one prompt: index into the manifest.
    Tokens(usize),
    /// Flips of the best token, against the reference's own noise.
    Flips(Prompts),
    /// Divergence over the vocabulary.
    Logits {
        /// Whether prefill or decode computed the logits.
        path: LogitPath,
        /// Over which prompts.
        prompts: Prompts,
    },
    /// The KV cache that decode wrote against the one that prefill writes.
    KvCache,
    /// Two prefills of one prompt give the same bits.
    RunToRun,
}

impl Check {
    /// Whether the check reads weights or a tokenizer that comes with them.
    pub fn needs_weights(&self) -> bool {
        !matches!(self, Self::Goldens | Self::Config | Self::Kernel(_))
    }

    /// How long the check may take before something is wrong. Measured on two
    /// cores with the emulated NPU, a kernel takes up to 3 s and the first test that
    /// needs a forward pass, which the others then share, up to 10 s; an
    /// unoptimised build or a busy machine may take ten times as long, and the
    /// timeouts leave as much again.
    pub fn limits(&self) -> TimeLimits {
        match self {
            Self::Goldens | Self::Weights | Self::Config | Self::Tokenizer | Self::Kernel(_) => {
                TimeLimits { slow: 30, timeout: 300 }
            }
            _ => TimeLimits { slow: 60, timeout: 1800 },
        }
    }

    /// Runs the check.
    pub fn run(&self, session: &mut Session) -> CheckResult {
        match *self {
            Self::Goldens => integrity::goldens(session),
            Self::Weights => integrity::weights(session),
            Self::Config => integrity::config(session),
            Self::Tokenizer => integrity::tokenizer(session),
            Self::Kernel(index) => kernel::check(session, index),
            Self::Block { layer, gate } => block::check(session, layer, gate),
            Self::LayersFinite => layers::finite(session),
            Self::LayersDrift => layers::drift(session),
            Self::Tokens(prompt) => tokens::token_set(session, prompt),
            Self::Flips(prompts) => tokens::flips(session, prompts),
            Self::Logits { path, prompts } => logits::kappa(session, path, prompts),
            Self::KvCache => consistency::kv_cache(session),
            Self::RunToRun => consistency::run_to_run(session),
        }
    }
}

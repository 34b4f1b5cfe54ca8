//! Which tests an adapter has: named without touching weights or a device.

use crate::checks::{BlockGate, Check, DEFAULT_PROMPTS, LogitPath, Prompts};
use crate::schema::{Attribute, Attributes, Ignore, Phase, TimeLimits, WeightsSource};
use crate::session::Session;

/// A test that could run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Its stable name.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
    /// Why it does not run by default, if it does not.
    pub ignore: Option<Ignore>,
    /// What is known of it beyond its name.
    pub attributes: Attributes,
    pub(crate) check: Check,
}

impl Planned {
    /// How long the test may take before something is wrong.
    pub fn limits(&self) -> TimeLimits {
        self.check.limits()
    }
}

/// Plans the tests of a session's adapter, in the order of the phases.
pub(crate) fn plan(session: &mut Session) -> Vec<Planned> {
    let mut plan = Plan { tests: Vec::new(), no_weights: no_weights(session) };
    if session.adapter.model().is_some() {
        plan.add(Phase::Goldens, "complete", Check::Goldens);
        plan.add(Phase::Weights, "complete", Check::Weights);
        plan.add(Phase::Config, "matches_reference", Check::Config);
        plan.add(Phase::Tokenizer, "matches_reference", Check::Tokenizer);
    }
    for (index, kernel) in session.kernels.iter().enumerate() {
        let name = kernel.id().to_string();
        let name = name.trim_start_matches("kernel::").to_owned();
        plan.add(Phase::Kernel, &name, Check::Kernel(index));
        plan.with(kernel.attributes());
    }
    let Some(model) = session.adapter.model() else { return plan.tests };
    for layer in 0..model.config().n_layers {
        for gate in BlockGate::ALL {
            let name = format!("layer{layer:02}::{gate}");
            plan.add(Phase::Block, &name, Check::Block { layer, gate });
            plan.with([("layer".to_owned(), Attribute::Number(layer as u64))]);
        }
    }
    plan.add(Phase::Layers, "finite", Check::LayersFinite);
    plan.add(Phase::Layers, "drift", Check::LayersDrift);
    plan.tokens(session);
    plan.add(Phase::Consistency, "kv_cache", Check::KvCache);
    plan.add_full(Phase::Consistency, "run_to_run", Check::RunToRun);
    plan.tests
}

struct Plan {
    tests: Vec<Planned>,
    no_weights: Option<Ignore>,
}

impl Plan {
    fn add(&mut self, phase: Phase, name: &str, check: Check) {
        let ignore = self.no_weights.clone().filter(|_| check.needs_weights());
        let name = format!("{phase}::{name}");
        let attributes = Attributes::new();
        self.tests.push(Planned { name, phase, ignore, attributes, check });
    }

    /// What is known of the test that was added last.
    fn with(&mut self, attributes: impl IntoIterator<Item = (String, Attribute)>) {
        if let Some(test) = self.tests.last_mut() {
            test.attributes.extend(attributes);
        }
    }

    /// Adds a test of the long set. Missing weights are the better reason.
    fn add_full(&mut self, phase: Phase, name: &str, check: Check) {
        self.add(phase, name, check);
        if let Some(test) = self.tests.last_mut() {
            test.ignore.get_or_insert(Ignore::Full);
        }
    }

    /// The gates that need the prompts' names. Without a manifest there are
    /// none to list, and `goldens::complete` says why.
    fn tokens(&mut self, session: &mut Session) {
        let prompts: Vec<_> = match session.goldens() {
            Ok(goldens) => {
                goldens.manifest().prompts.iter().map(|prompt| prompt.name.clone()).collect()
            }
            Err(_) => Vec::new(),
        };
        for (index, prompt) in prompts.iter().enumerate() {
            let check = Check::Tokens(index);
            if index < DEFAULT_PROMPTS {
                self.add(Phase::Tokens, prompt, check);
            } else {
                self.add_full(Phase::Tokens, prompt, check);
            }
            self.with([("prompt".to_owned(), prompt.as_str().into())]);
        }
        let (prefill, decode) = (LogitPath::Prefill, LogitPath::Decode);
        self.add(Phase::Tokens, "flips", Check::Flips(Prompts::Default));
        self.add_full(Phase::Tokens, "flips_all", Check::Flips(Prompts::All));
        let logits = |path, prompts| Check::Logits { path, prompts };
        self.add(Phase::Logits, "prefill", logits(prefill, Prompts::All));
        self.add(Phase::Logits, "decode", logits(decode, Prompts::Default));
        self.add_full(Phase::Logits, "decode_all", logits(decode, Prompts::All));
    }
}

/// The reason for ignoring the tests that need weights, when there are none.
/// Weights under version control are never excused.
fn no_weights(session: &Session) -> Option<Ignore> {
    let weights = session.adapter.model()?.weights();
    let bundled = matches!(weights.source, WeightsSource::Bundled { .. });
    if bundled || weights.path.is_some() {
        return None;
    }
    Some(Ignore::NoWeights { command: format!("cargo npugate fetch {}", session.adapter.name()) })
}

//! What the tests of one process share: the goldens, the runner, and whatever a check
//! computes for more than one test. Everything is computed when the first test asks for
//! it.

use crate::check::{Check, Workbench, private::Sealed};
use crate::goldens::{Goldens, LayerGolden, TokenGolden};
use crate::measured::Stop;
use crate::memo::{Keep, Memo};
use crate::schema::Prompt;
use crate::{Adapter, Context, Kernel, Model, Runner};
use std::{path::PathBuf, sync::Arc};

/// Something that more than one test uses: computed once in a process for each key, such
/// as the number of a layer or a prompt.
pub(crate) trait Shared: Send + Sync + Sized + 'static {
    /// How many results are kept.
    const KEEP: Keep = Keep::All;

    /// Computes it.
    fn compute(session: &mut Session, key: usize) -> Result<Self, Stop>;
}

pub(crate) struct Session {
    pub adapter: Arc<dyn Adapter>,
    pub context: Context,
    pub kernels: Vec<Box<dyn Kernel>>,
    pub checks: Vec<Arc<dyn Check>>,
    goldens: Option<Result<Arc<Goldens>, Stop>>,
    runner: Option<Result<Box<dyn Runner>, Stop>>,
    memo: Memo,
}

impl Session {
    pub fn new(
        adapter: Arc<dyn Adapter>,
        context: Context,
        kernels: Vec<Box<dyn Kernel>>,
        checks: Vec<Arc<dyn Check>>,
    ) -> Self {
        let memo = Memo::default();
        Self { adapter, context, kernels, checks, goldens: None, runner: None, memo }
    }

    /// Returns what tests share, computed for the first test that asks for it.
    pub fn shared<T: Shared>(&mut self, key: usize) -> Result<Arc<T>, Stop> {
        if let Some(known) = self.memo.get(key) {
            return known;
        }
        let computed = T::compute(self, key).map(Arc::new);
        self.memo.insert(key, &computed, T::KEEP);
        computed
    }

    /// Forgets a result, so that it is computed again for the next test that asks for it.
    pub fn forget<T: Shared>(&mut self, key: usize) {
        self.memo.forget::<T>(key);
    }

    /// The goldens; the manifest is read once.
    pub fn goldens(&mut self) -> Result<Arc<Goldens>, Stop> {
        let adapter = &*self.adapter;
        let context = &self.context;
        self.goldens
            .get_or_insert_with(|| {
                let name = adapter.name();
                let folder = fixtures(adapter, context)
                    .ok_or_else(|| Stop::Invalid(format!("{name} has no folder with goldens")))?;
                Ok(Arc::new(Goldens::open(&folder, name)?))
            })
            .clone()
    }

    /// The prompt at an index of the manifest.
    pub fn prompt(&mut self, index: usize) -> Result<Prompt, Stop> {
        let goldens = self.goldens()?;
        let prompts = &goldens.manifest().prompts;
        prompts.get(index).cloned().ok_or_else(|| {
            Stop::Invalid(format!("the manifest has {} prompts, no prompt {index}", prompts.len()))
        })
    }

    /// The token goldens of a prompt.
    pub fn token_golden(&mut self, index: usize) -> Result<TokenGolden, Stop> {
        let prompt = self.prompt(index)?;
        let golden = self.goldens()?.tokens(&prompt)?;
        if golden.prompt_ids == prompt.ids {
            Ok(golden)
        } else {
            Err(Stop::Invalid(format!(
                "the manifest and {} disagree on the token ids of {}",
                prompt.tokens.file, prompt.name
            )))
        }
    }

    /// The indices of the prompts with per-layer goldens, at least one.
    pub fn diagnosis_prompts(&mut self) -> Result<Vec<usize>, Stop> {
        let goldens = self.goldens()?;
        let prompts = goldens.manifest().prompts.iter().enumerate();
        let indices: Vec<_> =
            prompts.filter(|(_, prompt)| prompt.layers.is_some()).map(|(index, _)| index).collect();
        if indices.is_empty() {
            let name = self.adapter.name();
            return Err(Stop::Invalid(format!(
                "no prompt of {name} has per-layer goldens; record them with `cargo npugate record {name}`"
            )));
        }
        Ok(indices)
    }

    /// The per-layer goldens of a diagnosis prompt, read once.
    pub fn layer_golden(&mut self, index: usize) -> Result<Arc<LayerGolden>, Stop> {
        self.shared(index)
    }

    /// The runner, set up once.
    pub fn runner(&mut self) -> Result<&mut dyn Runner, Stop> {
        if self.runner.is_none() {
            let built = self.model()?.build_runner(&self.context).map_err(Stop::from);
            self.runner = Some(built);
        }
        match &mut self.runner {
            Some(Ok(runner)) => Ok(runner.as_mut()),
            Some(Err(stop)) => Err(stop.clone()),
            None => Err(Stop::Invalid("the runner was not built".to_owned())),
        }
    }

    /// The model. Without one, the tests that need it are not planned.
    pub fn model(&self) -> Result<&dyn Model, Stop> {
        self.adapter.model().ok_or_else(|| {
            Stop::Invalid(format!("{} has only kernels, no model", self.adapter.name()))
        })
    }
}

impl Shared for LayerGolden {
    fn compute(session: &mut Session, prompt: usize) -> Result<Self, Stop> {
        let prompt = session.prompt(prompt)?;
        Ok(session.goldens()?.layers(&prompt)?)
    }
}

impl Sealed for Session {}

impl Workbench for Session {
    fn context(&self) -> &Context {
        &self.context
    }

    fn model(&self) -> Result<&dyn Model, Stop> {
        Self::model(self)
    }

    fn goldens(&mut self) -> Result<Arc<Goldens>, Stop> {
        Self::goldens(self)
    }

    fn runner(&mut self) -> Result<&mut dyn Runner, Stop> {
        Self::runner(self)
    }
}

/// Where an adapter's goldens and baselines are in a context.
pub(crate) fn fixtures(adapter: &dyn Adapter, context: &Context) -> Option<PathBuf> {
    match &context.fixtures {
        Some(folder) => Some(folder.join(adapter.name())),
        None => adapter.fixtures(),
    }
}

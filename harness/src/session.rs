//! What the tests of one process share: the goldens, the runner, and the
//! forward passes that more than one test looks at. Everything is computed when
//! the first test asks for it.

use crate::checks::{BlockFigures, Forced};
use crate::goldens::{Goldens, LayerGolden, TokenGolden};
use crate::schema::Prompt;
use crate::suite::fixtures;
use crate::verdict::Stop;
use crate::{Adapter, Context, Kernel, Model, Prefill, Runner};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

pub(crate) struct Session {
    pub adapter: Arc<dyn Adapter>,
    pub context: Context,
    pub kernels: Vec<Box<dyn Kernel>>,
    goldens: Option<Result<Arc<Goldens>, Stop>>,
    runner: Option<Result<Box<dyn Runner>, Stop>>,
    layer_goldens: BTreeMap<usize, Arc<LayerGolden>>,
    pub(crate) stacks: HashMap<usize, Arc<Prefill>>,
    pub(crate) blocks: HashMap<usize, Result<Arc<BlockFigures>, Stop>>,
    pub(crate) forced: HashMap<usize, Result<Arc<Forced>, Stop>>,
}

impl Session {
    pub fn new(adapter: Arc<dyn Adapter>, context: Context, kernels: Vec<Box<dyn Kernel>>) -> Self {
        Self {
            adapter,
            context,
            kernels,
            goldens: None,
            runner: None,
            layer_goldens: BTreeMap::new(),
            stacks: HashMap::new(),
            blocks: HashMap::new(),
            forced: HashMap::new(),
        }
    }

    /// The goldens; the manifest is read once.
    pub fn goldens(&mut self) -> Result<Arc<Goldens>, Stop> {
        let adapter = &*self.adapter;
        let context = &self.context;
        self.goldens
            .get_or_insert_with(|| {
                let name = adapter.name();
                let folder = fixtures(adapter, context)
                    .ok_or_else(|| Stop::Invalid(format!("{name} names no folder with goldens")))?;
                Ok(Arc::new(Goldens::open(&folder, name)?))
            })
            .clone()
    }

    /// The prompt at an index of the manifest.
    pub fn prompt(&mut self, index: usize) -> Result<Prompt, Stop> {
        let goldens = self.goldens()?;
        let prompts = &goldens.manifest().prompts;
        prompts.get(index).cloned().ok_or_else(|| {
            Stop::Invalid(format!("the manifest has {} prompts, none at {index}", prompts.len()))
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

    /// The indices of the prompts with per-layer goldens: never none.
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
        if let Some(golden) = self.layer_goldens.get(&index) {
            return Ok(golden.clone());
        }
        let prompt = self.prompt(index)?;
        let golden = Arc::new(self.goldens()?.layers(&prompt)?);
        self.layer_goldens.insert(index, golden.clone());
        Ok(golden)
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

    /// The model; tests of a phase that needs one are not planned without it.
    pub fn model(&self) -> Result<&dyn Model, Stop> {
        self.adapter.model().ok_or_else(|| {
            Stop::Invalid(format!("{} has kernels alone, no model", self.adapter.name()))
        })
    }
}

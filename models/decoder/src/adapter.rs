//! The adapter of a model that a [`DecoderSpec`] describes.

use crate::{
    DecoderConfig, DecoderRunner, DecoderSpec, Options, Programs, SpecError, Tokenizer,
    TokenizerError, TokenizerSpec,
    hardware::{self, XRT},
    spec::{ParsedSpec, tidy},
    weights::{self, WeightsError},
};
use npugate::{
    Adapter, Context, DeviceSpec, Gates, RunError, Settings, SettingsError,
    check::Check,
    model::{Model, PrecisionProfile, Runner},
    schema::{ModelConfig, Sha256, WeightsFile, WeightsSource, weights_candidates},
};
use npugate_kernel_cases::{OpenDevice, arithmetic, cases, describe, programs, run_error};
use npugate_kernels::{
    Bf16Table, Device, DeviceError, Emulator, EmulatorOptions, Functions, Program,
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// Opens a device that has the functions of a run.
///
/// An emulated device takes them as they are. A device that has its functions in
/// silicon refuses all but [`Functions::HARDWARE`], lest a run say that it had others.
pub type DeviceFactory =
    Arc<dyn Fn(&Functions) -> Result<Box<dyn Device>, DeviceError> + Send + Sync>;

/// Opens the device of a run.
fn open(
    device: &str,
    options: &Options,
    replaced: Option<&DeviceFactory>,
) -> Result<Box<dyn Device>, DeviceError> {
    match replaced {
        Some(open) => open(&options.functions),
        None if device == XRT => hardware::open(options),
        None => {
            let functions = options.functions.clone();
            Ok(Box::new(Emulator::new(EmulatorOptions { functions, ..EmulatorOptions::default() })))
        }
    }
}

/// A decoder and its kernels, as the harness gates them.
pub struct DecoderAdapter {
    spec: DecoderSpec,
    parsed: ParsedSpec,
    /// What stands in for every device, if something does.
    open: Option<DeviceFactory>,
    /// Checks beside the built-in ones.
    checks: Vec<Arc<dyn Check>>,
    /// The weight file, once its digest has been checked.
    verified: OnceLock<PathBuf>,
    tokenizer: OnceLock<Tokenizer>,
}

impl DecoderAdapter {
    /// The adapter of a model, on the emulated NPU.
    ///
    /// # Panics
    ///
    /// If the spec is wrong. A spec is a constant of an adapter crate, so any
    /// test of that crate finds it; [`DecoderAdapter::try_new`] says the same
    /// without a panic.
    pub fn new(spec: DecoderSpec) -> Self {
        let name = spec.name;
        match Self::try_new(spec) {
            Ok(adapter) => adapter,
            Err(error) => panic!("the spec of `{name}` is wrong: {error}"),
        }
    }

    /// The adapter of a model, on the emulated NPU.
    ///
    /// # Errors
    ///
    /// A spec that cannot be parsed, or whose options give no valid programs.
    pub fn try_new(spec: DecoderSpec) -> Result<Self, SpecError> {
        Ok(Self {
            parsed: spec.parse()?,
            spec,
            open: None,
            checks: Vec::new(),
            verified: OnceLock::new(),
            tokenizer: OnceLock::new(),
        })
    }

    /// The same adapter on another device, such as one that plays a fault. It goes by the name
    /// of the emulated NPU.
    #[must_use]
    pub fn with_device(mut self, open: DeviceFactory) -> Self {
        self.open = Some(open);
        self
    }

    /// The same adapter with a check of its own beside the built-in ones.
    #[must_use]
    pub fn with_check(mut self, check: impl Check + 'static) -> Self {
        self.checks.push(Arc::new(check));
        self
    }

    /// The configuration that the programs are built from.
    pub fn decoder_config(&self) -> &DecoderConfig {
        &self.parsed.config
    }

    /// The options of a run.
    ///
    /// # Errors
    ///
    /// A setting that does not exist or cannot have this value; more positions
    /// than the model has.
    pub fn options(&self, context: &Context) -> Result<Options, SettingsError> {
        self.resolve(&context.settings)
    }

    fn resolve(&self, settings: &Settings) -> Result<Options, SettingsError> {
        let options = self.spec.options.clone().with(settings)?;
        match self.parsed.config.check_seq_len(options.seq_len) {
            Ok(()) => Ok(options),
            Err(error) => Err(not_a_seq_len(&options, &error)),
        }
    }

    /// The programs of a run.
    ///
    /// # Errors
    ///
    /// Settings that cannot be read or give no valid programs.
    pub fn programs(&self, context: &Context) -> Result<Programs, SettingsError> {
        self.programs_of(&self.options(context)?)
    }

    fn programs_of(&self, options: &Options) -> Result<Programs, SettingsError> {
        // The spec's own programs are valid, and of all settings only this one
        // changes a shape.
        Programs::new(&self.parsed.config, options).map_err(|error| not_a_seq_len(options, &error))
    }

    /// Every program that a run loads, for a deployment to have: those of the model, and one for
    /// each kernel test.
    ///
    /// # Errors
    ///
    /// As [`DecoderAdapter::programs`].
    pub fn loaded_programs(&self, context: &Context) -> Result<Vec<Program>, SettingsError> {
        let model = self.programs(context)?;
        Ok(model.all().cloned().chain(programs(model.launches())).collect())
    }

    /// Sets the decoder up on a device of its own.
    ///
    /// # Errors
    ///
    /// As [`Model::build_runner`].
    pub fn build_decoder(&self, context: &Context) -> Result<DecoderRunner, RunError> {
        let options = self.options(context).map_err(RunError::fault)?;
        let programs = self.programs_of(&options).map_err(RunError::fault)?;
        let config = &self.parsed.config;
        let weights = weights::open(self.verified_weights()?, config)?;
        let device = open(&context.device, &options, self.open.as_ref());
        let device = device.map_err(run_error)?;
        DecoderRunner::new(device, config.clone(), options, &programs, weights.as_ref())
    }

    /// Where the weights are on this machine, if they are.
    fn find_weights(&self) -> Option<PathBuf> {
        let candidates = match &self.parsed.source {
            WeightsSource::Bundled { path } => vec![path.clone()],
            _ => weights_candidates(self.spec.name, self.spec.weights.file),
        };
        candidates.into_iter().find(|path| path.is_file())
    }

    /// How to get the weight file.
    fn remedy(&self) -> String {
        match self.parsed.source {
            WeightsSource::Bundled { .. } => "restore it from version control".to_owned(),
            _ => format!("run `cargo npugate fetch {}`", self.spec.name),
        }
    }

    /// The weight file, which has the pinned digest.
    fn verified_weights(&self) -> Result<&Path, WeightsError> {
        if let Some(path) = self.verified.get() {
            return Ok(path);
        }
        let path = self.find_weights().ok_or_else(|| WeightsError::NotFetched {
            model: self.spec.name.to_owned(),
            file: self.spec.weights.file.to_owned(),
            remedy: self.remedy(),
        })?;
        weights::verify_digest(&path, self.parsed.sha256, &self.parsed.shards, &self.remedy())?;
        Ok(self.verified.get_or_init(|| path))
    }

    fn tokenizer(&self) -> Result<&Tokenizer, RunError> {
        if let Some(tokenizer) = self.tokenizer.get() {
            return Ok(tokenizer);
        }
        let tokenizer = match self.spec.tokenizer {
            TokenizerSpec::File(path) => Tokenizer::from_file(Path::new(path))?,
            #[cfg(feature = "gguf")]
            TokenizerSpec::Gguf => Tokenizer::from_gguf(self.verified_weights()?)?,
        };
        Ok(self.tokenizer.get_or_init(|| tokenizer))
    }
}

/// The start of the SHA-256 of a table's file: what tells its values from others', wherever the
/// file lies.
fn fingerprint(table: &Bf16Table) -> String {
    let bytes: Vec<u8> = table.entries().iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut digest = Sha256::of(&bytes).to_string();
    digest.truncate(12);
    digest
}

fn not_a_seq_len(options: &Options, reason: &dyn std::fmt::Display) -> SettingsError {
    SettingsError::Value {
        key: "seq_len".to_owned(),
        value: options.seq_len.to_string(),
        reason: reason.to_string(),
    }
}

impl From<TokenizerError> for RunError {
    /// A tokenizer that cannot be read says nothing about the port; one that
    /// fails on a text does.
    fn from(error: TokenizerError) -> Self {
        match error {
            TokenizerError::Gguf(error) => error.into(),
            TokenizerError::File { .. } => Self::setup(error),
            TokenizerError::Unsupported { .. } | TokenizerError::Failed(_) => Self::fault(error),
        }
    }
}

impl Adapter for DecoderAdapter {
    fn name(&self) -> &str {
        self.spec.name
    }

    fn fixtures(&self) -> Option<PathBuf> {
        Some(tidy(Path::new(self.spec.fixtures)))
    }

    fn distinct(&self, settings: &Settings) -> Result<Settings, SettingsError> {
        let mut distinct = settings.clone();
        let options = self.resolve(settings)?;
        for (key, table) in options.functions.tables() {
            distinct.set(key, format!("table-{}", fingerprint(table)));
        }
        for key in options.same_keys(&self.spec.options) {
            distinct.remove(key);
        }
        Ok(distinct)
    }

    fn devices(&self) -> Vec<DeviceSpec> {
        match self.open {
            Some(_) => vec![DeviceSpec::emulated()],
            None => vec![DeviceSpec::emulated(), hardware::spec()],
        }
    }

    fn settings(&self) -> &[&str] {
        &Options::KEYS
    }

    fn gates(&self, context: &Context) -> Result<Gates, SettingsError> {
        let options = self.options(context)?;
        let programs = self.programs_of(&options)?;
        let configuration = match context.device.as_str() {
            XRT => format!("{options}, {}", hardware::describe(&options)?),
            _ => options.to_string(),
        };
        let (replaced, device) = (self.open.clone(), context.device.clone());
        let opened = options.clone();
        let open: OpenDevice = Arc::new(move || open(&device, &opened, replaced.as_ref()));
        let kernels = cases(programs.launches(), &open, context.effort).map_err(|error| {
            // The toolchain decides how a launch rounds, `gemm` which products there are.
            let (key, value) = if error.differ_in_rounding() {
                ("toolchain", options.toolchain.to_string())
            } else {
                ("gemm", options.gemm.to_string())
            };
            SettingsError::Value { key: key.to_owned(), value, reason: error.to_string() }
        })?;
        let arithmetic = arithmetic(options.toolchain, &options.functions);
        let launches = describe(programs.all(), &arithmetic);
        let gates = Gates::new().configuration(configuration).kernels(kernels).launches(launches);
        Ok(gates.checks(self.checks.iter().cloned()))
    }

    fn model(&self) -> Option<&dyn Model> {
        Some(self)
    }
}

impl Model for DecoderAdapter {
    fn config(&self) -> ModelConfig {
        self.parsed.config.model.clone()
    }

    fn profile(&self) -> PrecisionProfile {
        self.spec.profile
    }

    fn weights(&self) -> WeightsFile {
        WeightsFile {
            file: self.spec.weights.file.to_owned(),
            bytes: self.spec.weights.bytes,
            sha256: self.parsed.sha256,
            source: self.parsed.source.clone(),
            path: self.find_weights(),
        }
    }

    fn check_weights(&self) -> Result<usize, RunError> {
        let source = weights::open(self.verified_weights()?, &self.parsed.config)?;
        Ok(source.contents().len())
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, RunError> {
        Ok(self.tokenizer()?.encode(text)?)
    }

    fn decode(&self, tokens: &[u32]) -> Result<String, RunError> {
        Ok(self.tokenizer()?.decode(tokens)?)
    }

    fn stop_tokens(&self) -> Vec<u32> {
        self.parsed.config.stop_tokens.clone()
    }

    fn build_runner(&self, context: &Context) -> Result<Box<dyn Runner>, RunError> {
        Ok(Box::new(self.build_decoder(context)?))
    }
}

#[cfg(test)]
mod tests;

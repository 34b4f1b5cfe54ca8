//! Goldens: what the reference produced, read from a model's fixtures folder.
//!
//! Opening reads only the manifest. Every later load first checks a file's size and
//! digest against the manifest, then that each tensor is there with the dtype, the shape
//! and the range of values that the format promises: a damaged golden is never compared
//! with.

mod error;
mod file;
mod layers;
mod tokens;

use crate::schema::{GOLDEN_SCHEMA, GoldenFile, Manifest, Prompt};
use file::VerifiedFile;
use fs_err as fs;
use std::{
    io,
    path::{Path, PathBuf},
};

pub use error::{GoldenError, TensorProblem};
pub use layers::{LayerGolden, LayerTensors, Parts};
pub use tokens::{CompactLogits, DeclaredLogits, TokenGolden};

/// The goldens of one model. Only the manifest is in memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Goldens {
    folder: PathBuf,
    manifest: Manifest,
}

impl Goldens {
    /// Reads the `manifest.json` of a fixtures folder, and nothing else.
    ///
    /// # Errors
    ///
    /// A manifest that is missing, cannot be read, is of another version, or is of another
    /// model than `model`.
    pub fn open(folder: impl AsRef<Path>, model: &str) -> Result<Self, GoldenError> {
        let folder = folder.as_ref();
        let path = folder.join("manifest.json");
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                GoldenError::NoManifest { folder: folder.to_owned(), model: model.to_owned() }
            }
            _ => GoldenError::Unreadable(source),
        })?;
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|source| GoldenError::Manifest { path: path.clone(), source })?;
        if manifest.schema != GOLDEN_SCHEMA {
            return Err(GoldenError::Schema { path, found: manifest.schema });
        }
        if manifest.model != model {
            let (found, expected) = (manifest.model, model.to_owned());
            return Err(GoldenError::Model { path, found, expected });
        }
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// Provenance, the reference's configuration, its noise, and the prompts.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Checks that every file of the manifest is there with its size and its digest, and
    /// returns the number of files, at least one.
    ///
    /// # Errors
    ///
    /// The first file that is missing or changed; a manifest without files.
    pub fn verify(&self) -> Result<usize, GoldenError> {
        let prompts = &self.manifest.prompts;
        let files =
            prompts.iter().flat_map(|prompt| [Some(&prompt.tokens), prompt.layers.as_ref()]);
        let mut count = 0;
        for file in files.flatten() {
            self.read(file)?;
            count += 1;
        }
        if count == 0 {
            let (folder, model) = (self.folder.clone(), self.manifest.model.clone());
            return Err(GoldenError::NoPrompts { folder, model });
        }
        Ok(count)
    }

    /// The token goldens of a prompt.
    ///
    /// # Errors
    ///
    /// A missing or changed file, or one whose tensors are not as promised.
    pub fn tokens(&self, prompt: &Prompt) -> Result<TokenGolden, GoldenError> {
        let file = self.read(&prompt.tokens)?;
        TokenGolden::read(&file.tensors()?, prompt, &self.manifest.config)
    }

    /// The per-layer goldens of a diagnosis prompt.
    ///
    /// # Errors
    ///
    /// A prompt that has none, a missing or changed file, or one whose tensors
    /// are not as promised.
    pub fn layers(&self, prompt: &Prompt) -> Result<LayerGolden, GoldenError> {
        let layers = prompt.layers.as_ref().ok_or_else(|| GoldenError::NoLayers {
            prompt: prompt.name.clone(),
            model: self.manifest.model.clone(),
        })?;
        let file = self.read(layers)?;
        LayerGolden::read(&file.tensors()?, prompt, &self.manifest.config)
    }

    fn read(&self, file: &GoldenFile) -> Result<VerifiedFile, GoldenError> {
        VerifiedFile::read(&self.folder, file, &self.manifest.model)
    }
}

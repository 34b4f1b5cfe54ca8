//! Files among goldens and baselines that nothing refers to: they look like evidence, but
//! no test reads them.
//!
//! A golden is a `.safetensors` file beside a manifest. Other files there (a corpus, notes,
//! the tokenizer of a committed model) are left alone.

use fs_err as fs;
use npugate_schema::{
    BASELINE_SCHEMA, Baseline, Description, GOLDEN_SCHEMA, Manifest, WeightsSource,
};
use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

/// A file or folder that nothing refers to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// Why nothing refers to it.
    pub why: Why,
}

/// Why nothing refers to a file or folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Why {
    /// A golden that the manifest of this model does not name.
    Golden { model: String },
    /// A file in the place of a baseline that cannot be read as one.
    NoBaseline { reason: String },
    /// A baseline of another model, device class or format than its path says.
    Misplaced { is: String },
    /// A temporary file of a write that was cut short.
    Temporary,
    /// A folder of goldens of a model that no adapter has.
    Model { model: String },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Golden { model } => write!(f, "the manifest of {model} does not name it"),
            Self::NoBaseline { reason } => write!(f, "it is not a baseline: {reason}"),
            Self::Misplaced { is } => write!(f, "it is {is}, which does not match its path"),
            Self::Temporary => f.write_str("it was left by a write that was cut short"),
            Self::Model { model } => write!(f, "no adapter in the workspace has the model {model}"),
        }
    }
}

/// What belongs to the adapters of a workspace, including those that did not run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Claims {
    /// Names of models and packages.
    pub names: BTreeSet<String>,
    /// Folders of goldens.
    pub folders: Vec<PathBuf>,
}

/// Finds what nothing refers to in the folders of these models and beside them, by path.
pub fn find<'a>(
    models: impl IntoIterator<Item = &'a Description>,
    claims: &Claims,
) -> Vec<Leftover> {
    let mut claimed: BTreeSet<_> = claims.folders.iter().map(|path| real(path)).collect();
    let (mut found, mut parents) = (BTreeSet::new(), BTreeSet::new());
    for description in models {
        let Some(fixtures) = description.fixtures.as_deref().map(real) else { continue };
        goldens(&fixtures, description, &mut found);
        baselines(&fixtures.join("baseline"), &description.model, &mut found);
        parents.extend(fixtures.parent().map(Path::to_owned));
        claimed.insert(fixtures);
    }
    for folder in parents.iter().flat_map(|parent| entries(parent)) {
        if claimed.contains(&folder) {
            continue;
        }
        let Some(model) = manifest(&folder).map(|manifest| manifest.model) else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if !claims.names.contains(&*name) && !claims.names.contains(&model) {
            found.insert(Leftover { path: folder, why: Why::Model { model } });
        }
    }
    found.into_iter().collect()
}

/// Finds goldens that the manifest does not name. Without a readable manifest it finds
/// none, and the test `goldens::complete` reports the manifest.
fn goldens(fixtures: &Path, description: &Description, found: &mut BTreeSet<Leftover>) {
    let Some(manifest) = manifest(fixtures) else { return };
    let files = manifest
        .prompts
        .iter()
        .flat_map(|prompt| std::iter::once(&prompt.tokens).chain(&prompt.layers));
    let named: BTreeSet<_> = files.map(|golden| fixtures.join(&golden.file)).collect();
    let bundled = match description.weights.as_ref().map(|weights| &weights.source) {
        Some(WeightsSource::Bundled { path }) => Some(real(path)),
        _ => None,
    };
    for path in entries(fixtures) {
        let is_golden = path.extension().is_some_and(|extension| extension == "safetensors");
        if is_temporary(&path) {
            found.insert(Leftover { path, why: Why::Temporary });
        } else if is_golden && !named.contains(&path) && bundled.as_ref() != Some(&path) {
            let model = description.model.clone();
            found.insert(Leftover { path, why: Why::Golden { model } });
        }
    }
}

/// Finds files in the place of baselines that are not a baseline of this model.
fn baselines(folder: &Path, model: &str, found: &mut BTreeSet<Leftover>) {
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let why = if is_temporary(&path) {
            Some(Why::Temporary)
        } else {
            let name = name.strip_suffix(".new").unwrap_or(&name);
            name.strip_suffix(".json").and_then(|device| misplaced(&path, model, device))
        };
        found.extend(why.map(|why| Leftover { path, why }));
    }
}

/// Why a file is not the baseline of this model on this device class.
fn misplaced(path: &Path, model: &str, device: &str) -> Option<Why> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string());
    let parsed = text.and_then(|text| {
        serde_json::from_str::<Baseline>(&text).map_err(|error| error.to_string())
    });
    match parsed {
        Err(reason) => Some(Why::NoBaseline { reason }),
        Ok(baseline) if baseline.schema != BASELINE_SCHEMA => {
            Some(Why::Misplaced { is: format!("in the format {}", baseline.schema) })
        }
        Ok(baseline) if baseline.model != model || baseline.device != device => {
            let Baseline { model, device, .. } = baseline;
            Some(Why::Misplaced { is: format!("the baseline of {model} on {device}") })
        }
        Ok(_) => None,
    }
}

/// The golden manifest of a folder, if there is a readable one.
fn manifest(folder: &Path) -> Option<Manifest> {
    let text = fs::read_to_string(folder.join("manifest.json")).ok()?;
    serde_json::from_str(&text).ok().filter(|manifest: &Manifest| manifest.schema == GOLDEN_SCHEMA)
}

/// Whether a file is a temporary one of `write_atomically`.
fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".npugate-"))
}

/// The entries of a folder; none if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path()).collect()
}

/// A path without links and dots, if it exists.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
#[path = "unreferenced_tests.rs"]
mod tests;

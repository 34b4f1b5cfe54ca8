//! Reading the file, and finding a profile in it.

use super::error::ConfigError;
use super::file::RawFile;
use super::keys;
use super::layer::{Layer, Source};
use super::resolved::Profile;
use crate::text;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    env, io,
    path::{self, Path, PathBuf},
    sync::Arc,
};
use toml::de::{DeTable, Deserializer};

/// Where the file is unless another is named.
const FILE: &str = ".config/npugate.toml";
/// The profile that is used if no other is chosen, and that others inherit.
const DEFAULT: &str = "default";

/// The profiles of a workspace.
#[derive(Clone, PartialEq, Debug)]
pub struct Profiles {
    /// The file, as it is shown.
    file: String,
    layers: BTreeMap<String, Layer>,
}

impl Profiles {
    /// Reads `.config/npugate.toml` of a workspace, or the file that is named. Only a
    /// named file has to exist.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or makes no sense, with the place.
    pub fn load(root: &Path, named: Option<&Path>) -> Result<Self, ConfigError> {
        let place = named.map_or_else(|| root.join(FILE), Path::to_owned);
        let file = shown(&place);
        match fs_err::read_to_string(&place) {
            Ok(text) => Self::parse(&text, &file, root),
            Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { file, layers: BTreeMap::new() })
            }
            // The error's own message repeats the path.
            Err(error) => Err(ConfigError::Read { file, source: error.kind().into() }),
        }
    }

    fn parse(text: &str, file: &str, root: &Path) -> Result<Self, ConfigError> {
        let place = |error: &toml::de::Error| {
            let at = error.span().unwrap_or_default();
            ConfigError::place(file, text, &at, error.message().to_owned())
        };
        let table = DeTable::parse(text).map_err(|error| place(&error))?;
        keys::check(table.get_ref())
            .map_err(|unknown| ConfigError::place(file, text, &unknown.at, unknown.message))?;
        let raw = RawFile::deserialize(Deserializer::from(table)).map_err(|error| place(&error))?;
        let shared: Arc<str> = file.into();
        let root = path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let source = |profile: &str| Source {
            file: shared.clone(),
            text,
            profile: profile.into(),
            root: &root,
        };
        let layers = raw.profile.into_iter().map(|(name, raw)| {
            let layer = source(&name).layer(raw)?;
            Ok((name, layer))
        });
        let layers: BTreeMap<_, _> = layers.collect::<Result<_, ConfigError>>()?;
        let profiles = Self { file: file.to_owned(), layers };
        for name in profiles.layers.keys() {
            profiles.check_parents(name, &source(name))?;
        }
        Ok(profiles)
    }

    /// The profile with a name. `default` exists even if the file lacks it.
    ///
    /// # Errors
    ///
    /// Another name that the file lacks.
    pub fn resolve(&self, name: &str) -> Result<Profile, ConfigError> {
        if name != DEFAULT && !self.layers.contains_key(name) {
            return Err(ConfigError::UnknownProfile {
                file: self.file.clone(),
                name: name.to_owned(),
                hint: self.hint(name),
            });
        }
        let chain = self.chain(name);
        let layers = chain.iter().filter_map(|name| self.layers.get(name)).cloned();
        Ok(Profile::new(chain.clone(), layers))
    }

    /// A profile, the one it inherits, and so on to the last. The chain ends at a
    /// profile that appears in it twice.
    fn chain(&self, name: &str) -> Vec<String> {
        let mut chain = vec![name.to_owned()];
        let mut current = name;
        while let Some(parent) = self.parent(current) {
            let twice = chain.iter().any(|known| known == parent);
            chain.push(parent.to_owned());
            if twice {
                break;
            }
            current = parent;
        }
        chain
    }

    fn parent(&self, name: &str) -> Option<&str> {
        let stated = self.layers.get(name).and_then(|layer| layer.inherits.as_ref());
        match stated {
            Some(parent) => Some(&parent.value),
            None => Some(DEFAULT).filter(|_| name != DEFAULT),
        }
    }

    /// Refuses a parent that does not exist, and one that inherits its own child.
    fn check_parents(&self, name: &str, source: &Source<'_>) -> Result<(), ConfigError> {
        let stated = self.layers.get(name).and_then(|layer| layer.inherits.as_ref());
        let Some(parent) = stated else { return Ok(()) };
        if parent.value != DEFAULT && !self.layers.contains_key(&parent.value) {
            let hint = self.hint(&parent.value);
            let message = format!("there is no profile `{}`{hint}", parent.value);
            return Err(source.error(&parent.at, message));
        }
        let chain = self.chain(name);
        if chain[1..].iter().any(|ancestor| ancestor == name) {
            let message = format!("`{name}` inherits itself: {}", chain.join(" inherits "));
            return Err(source.error(&parent.at, message));
        }
        Ok(())
    }

    fn hint(&self, name: &str) -> String {
        let known = self.layers.keys().map(String::as_str).chain([DEFAULT]);
        let known: std::collections::BTreeSet<_> = known.collect();
        text::did_you_mean(name, known.iter().copied())
            .unwrap_or_else(|| format!("; choose {}", text::one_of(known)))
    }
}

/// A path as one would type it here.
fn shown(path: &Path) -> String {
    let here = env::current_dir().ok();
    let short = here.and_then(|here| path.strip_prefix(here).ok().map(PathBuf::from));
    short.unwrap_or_else(|| path.to_owned()).display().to_string()
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;

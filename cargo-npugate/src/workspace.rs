//! The adapters of a cargo workspace, as `cargo metadata` reports them.

mod error;

pub use error::WorkspaceError;

use crate::cli::{AdapterArgs, CargoArgs};
use crate::environment::Environment;
use camino::Utf8PathBuf;
use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId, TargetKind};
use serde::Deserialize;
use std::path::PathBuf;

/// A workspace and its adapters.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Its root.
    pub root: Utf8PathBuf,
    /// Where cargo builds.
    pub target: Utf8PathBuf,
    /// Where it keeps its rows of tested kernels.
    pub registry: Utf8PathBuf,
    /// The cargo profile that its gates are built in.
    pub cargo_profile: String,
    /// Its adapters, by package name.
    pub adapters: Vec<Adapter>,
    /// Its other packages, except those with a test target that has the name of a gate.
    pub others: Vec<String>,
}

/// An adapter package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adapter {
    /// The package's name.
    pub package: String,
    /// The id that cargo gives it in its messages.
    pub id: PackageId,
    /// Its version.
    pub version: String,
    /// Its `Cargo.toml`.
    pub manifest: Utf8PathBuf,
    /// The name of its gate, a test target.
    pub gate: String,
    /// The model's name.
    pub model: String,
    /// The folder with its goldens and baselines, if its metadata names one.
    pub goldens: Option<Utf8PathBuf>,
    /// Whether it runs when nothing is selected.
    pub by_default: ByDefault,
}

/// Whether an adapter runs when nothing is selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByDefault {
    /// It does.
    Run,
    /// It does not, because it takes long or needs what few machines have.
    Leave,
}

/// `[workspace.metadata.npugate]`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "kebab-case")]
struct WorkspaceMetadata {
    registry: Option<Utf8PathBuf>,
    cargo_profile: Option<String>,
}

/// Where a workspace keeps its rows by default.
const REGISTRY: &str = "kernels/registry";

/// The default cargo profile of gates. It is optimised, because gates compute.
const CARGO_PROFILE: &str = "release";

/// `[package.metadata.npugate]`.
#[derive(Deserialize)]
struct AdapterMetadata {
    gate: String,
    model: Option<String>,
    goldens: Option<Utf8PathBuf>,
    default: Option<bool>,
}

impl Workspace {
    /// Asks cargo for the workspace and picks its adapters.
    ///
    /// # Errors
    ///
    /// `cargo metadata` fails, a package's metadata for this command cannot be
    /// read or names no test target, or there is no adapter at all.
    pub fn find(cargo: &CargoArgs, environment: &Environment) -> Result<Self, WorkspaceError> {
        let mut command = MetadataCommand::new();
        command.cargo_path(PathBuf::from(environment.cargo()));
        // Only the members are needed, so nothing has to be resolved or downloaded.
        command.no_deps();
        if let Some(path) = &cargo.manifest_path {
            command.manifest_path(path);
        }
        if let Some(target) = &cargo.target_dir {
            command.env("CARGO_TARGET_DIR", target);
        }
        command.other_options(cargo.lock_args().map(str::to_owned).collect::<Vec<_>>());
        let metadata = command.exec().map_err(|error| WorkspaceError::Metadata(reason(&error)))?;
        Self::from_metadata(&metadata)
    }

    fn from_metadata(metadata: &Metadata) -> Result<Self, WorkspaceError> {
        let mut adapters = Vec::new();
        for package in metadata.workspace_packages() {
            adapters.extend(adapter(package)?);
        }
        adapters.sort_by(|a: &Adapter, b| a.package.cmp(&b.package));
        let others = others(metadata, &adapters);
        if adapters.is_empty() {
            return Err(WorkspaceError::NoAdapters { root: metadata.workspace_root.to_string() });
        }
        let WorkspaceMetadata { registry, cargo_profile } = workspace_metadata(metadata)?;
        Ok(Self {
            root: metadata.workspace_root.clone(),
            target: metadata.target_directory.clone(),
            registry: metadata.workspace_root.join(registry.unwrap_or_else(|| REGISTRY.into())),
            cargo_profile: cargo_profile.unwrap_or_else(|| CARGO_PROFILE.to_owned()),
            adapters,
            others,
        })
    }

    /// The adapters that the options select.
    ///
    /// # Errors
    ///
    /// No adapter has one of the names, or none is left.
    pub fn select(&self, args: &AdapterArgs) -> Result<Vec<Adapter>, WorkspaceError> {
        for name in args.package.iter().chain(&args.exclude) {
            if !self.adapters.iter().any(|adapter| adapter.is_called(name)) {
                return Err(WorkspaceError::UnknownAdapter {
                    name: name.clone(),
                    known: self.names(),
                });
            }
        }
        let named = |adapter: &Adapter| args.package.iter().any(|name| adapter.is_called(name));
        let selected: Vec<_> = self
            .adapters
            .iter()
            .filter(|adapter| match (args.package.is_empty(), args.workspace) {
                (_, true) => true,
                (true, false) => adapter.by_default == ByDefault::Run,
                (false, false) => named(adapter),
            })
            .filter(|adapter| !args.exclude.iter().any(|name| adapter.is_called(name)))
            .cloned()
            .collect();
        if selected.is_empty() {
            Err(WorkspaceError::NothingSelected(self.names()))
        } else {
            Ok(selected)
        }
    }

    /// The names of all adapters.
    pub fn names(&self) -> Vec<String> {
        self.adapters.iter().map(|adapter| adapter.model.clone()).collect()
    }
}

impl Adapter {
    /// Whether `name` is the name of its package or its model.
    pub fn is_called(&self, name: &str) -> bool {
        self.package == name || self.model == name
    }

    /// The package's folder.
    pub fn folder(&self) -> Utf8PathBuf {
        self.manifest.parent().map_or_else(Utf8PathBuf::new, ToOwned::to_owned)
    }
}

impl CargoArgs {
    /// The options about the lock file and the network.
    pub fn lock_args(&self) -> impl Iterator<Item = &'static str> + use<> {
        let flags =
            [("--locked", self.locked), ("--offline", self.offline), ("--frozen", self.frozen)];
        flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

fn adapter(package: &Package) -> Result<Option<Adapter>, WorkspaceError> {
    let Some(metadata) = package.metadata.get("npugate") else { return Ok(None) };
    let manifest = package.manifest_path.clone();
    let AdapterMetadata { gate, model, goldens, default } =
        AdapterMetadata::deserialize(metadata).map_err(|source| {
            WorkspaceError::AdapterMetadata { manifest: manifest.to_string(), source }
        })?;
    let is_gate = |target: &&cargo_metadata::Target| {
        target.name == gate && target.kind.contains(&TargetKind::Test)
    };
    if !package.targets.iter().any(|target| is_gate(&target)) {
        return Err(WorkspaceError::NoGateTarget { manifest: manifest.to_string(), gate });
    }
    let package_name = package.name.to_string();
    let mut adapter = Adapter {
        model: model.unwrap_or_else(|| package_name.clone()),
        package: package_name,
        id: package.id.clone(),
        version: package.version.to_string(),
        manifest,
        gate,
        goldens: None,
        by_default: if default == Some(false) { ByDefault::Leave } else { ByDefault::Run },
    };
    adapter.goldens = goldens.map(|folder| adapter.folder().join(folder));
    Ok(Some(adapter))
}

/// Cargo's own message, without its `error: `.
fn reason(error: &cargo_metadata::Error) -> String {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let text = stderr.trim();
            text.strip_prefix("error: ").unwrap_or(text).to_owned()
        }
        other => other.to_string(),
    }
}

/// What `[workspace.metadata.npugate]` says.
fn workspace_metadata(metadata: &Metadata) -> Result<WorkspaceMetadata, WorkspaceError> {
    let Some(value) = metadata.workspace_metadata.get("npugate") else {
        return Ok(WorkspaceMetadata::default());
    };
    WorkspaceMetadata::deserialize(value).map_err(|source| {
        let manifest = metadata.workspace_root.join("Cargo.toml").to_string();
        WorkspaceError::WorkspaceMetadata { manifest, source }
    })
}

/// The packages that are not adapters and have no test target that `--test GATE` would build.
fn others(metadata: &Metadata, adapters: &[Adapter]) -> Vec<String> {
    let is_gate = |target: &cargo_metadata::Target| {
        target.kind.contains(&TargetKind::Test)
            && adapters.iter().any(|adapter| adapter.gate == target.name)
    };
    let packages = metadata.workspace_packages().into_iter();
    let mut others: Vec<_> = packages
        .filter(|package| !package.targets.iter().any(is_gate))
        .map(|package| package.name.to_string())
        .collect();
    others.sort();
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, by_default: ByDefault) -> Adapter {
        Adapter {
            package: format!("{name}-adapter"),
            id: PackageId { repr: name.into() },
            version: "0.1.0".into(),
            manifest: format!("/w/{name}/Cargo.toml").into(),
            gate: "gate".into(),
            model: name.into(),
            goldens: None,
            by_default,
        }
    }

    fn select(args: &AdapterArgs) -> Result<Vec<String>, WorkspaceError> {
        let workspace = Workspace {
            root: "/w".into(),
            registry: "/w/kernels/registry".into(),
            target: "/w/target".into(),
            cargo_profile: CARGO_PROFILE.to_owned(),
            others: Vec::new(),
            adapters: vec![
                adapter("big", ByDefault::Leave),
                adapter("small", ByDefault::Run),
                adapter("tiny", ByDefault::Run),
            ],
        };
        Ok(workspace.select(args)?.into_iter().map(|adapter| adapter.model).collect())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_model_that_is_off_by_default_runs_when_selected() {
        assert_eq!(select(&AdapterArgs::default()).unwrap(), ["small", "tiny"]);
        let workspace = AdapterArgs { workspace: true, ..AdapterArgs::default() };
        assert_eq!(select(&workspace).unwrap(), ["big", "small", "tiny"]);
        let package = AdapterArgs { package: names(&["big"]), ..AdapterArgs::default() };
        assert_eq!(select(&package).unwrap(), ["big"]);
    }

    #[test]
    fn package_and_model_names_both_select_and_exclude() {
        let args = AdapterArgs {
            package: names(&["tiny-adapter", "small"]),
            exclude: names(&["small-adapter"]),
            workspace: false,
        };
        assert_eq!(select(&args).unwrap(), ["tiny"]);
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_known_ones() {
        let args = AdapterArgs { package: names(&["tin"]), ..AdapterArgs::default() };
        let error = select(&args).unwrap_err().to_string();
        assert_eq!(
            error,
            "no adapter package or model is called `tin`; there are big, small, tiny"
        );
        let args = AdapterArgs { exclude: names(&["small", "tiny"]), ..AdapterArgs::default() };
        assert!(matches!(select(&args), Err(WorkspaceError::NothingSelected(_))));
    }
}

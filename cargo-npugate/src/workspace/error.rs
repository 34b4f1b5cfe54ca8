//! Why a workspace has no adapters to work on.

use npugate_schema::ExitCode;

/// Why a workspace has no adapters to work on.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("`cargo metadata` failed: {0}")]
    Metadata(String),
    #[error(
        "there is no adapter in the workspace {root}: an adapter is a package with `[package.metadata.npugate]` and `gate = \"TEST TARGET\"` in its Cargo.toml"
    )]
    NoAdapters { root: String },
    #[error("no adapter package or model is called `{name}`; there are {}", known.join(", "))]
    UnknownAdapter { name: String, known: Vec<String> },
    #[error("no adapter is selected; there are {}: select some with -p or --workspace", .0.join(", "))]
    NothingSelected(Vec<String>),
    #[error("[workspace.metadata.npugate] of {manifest} cannot be read: {source}")]
    WorkspaceMetadata { manifest: String, source: serde_json::Error },
    #[error("[package.metadata.npugate] of {manifest} cannot be read: {source}")]
    AdapterMetadata { manifest: String, source: serde_json::Error },
    #[error(
        "{manifest} names the gate `{gate}`, but has no such test target: add `[[test]]` with `name = \"{gate}\"` and `harness = false`"
    )]
    NoGateTarget { manifest: String, gate: String },
}

impl WorkspaceError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Metadata(_) => ExitCode::MetadataFailed,
            _ => ExitCode::Setup,
        }
    }
}

//! Why a command could not do what it was asked for. Each message is one
//! sentence that says what is wrong, where, and what to do.
//!
//! Every module has its own type for what can go wrong in it. This one puts them
//! together for the commands, and nothing below the commands knows it.

use crate::baseline::ChangesError;
use crate::build::BuildError;
use crate::choose::ChooseError;
use crate::config::UsageError;
use crate::environment::EnvironmentError;
use crate::fetch::FetchError;
use crate::files::FileError;
use crate::gate::GateError;
use crate::last_failed::LastFailedError;
use crate::merge::MergeError;
use crate::profile::ConfigError;
use crate::record::RecordError;
use crate::runner::RunError;
use crate::text;
use crate::workspace::WorkspaceError;
use npugate_kernels::{fidelity::FidelityError, registry::RegistryError};
use npugate_schema::ExitCode;
use npugate_xrt::setup::SetupError;
use std::io;

/// Why a command could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    // What it was asked for.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("several models are selected: choose one with `-p NAME`, of {}", .0.join(", "))]
    WhichModel(Vec<String>),

    // Gates and their tests.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    LastFailed(#[from] LastFailedError),
    #[error(transparent)]
    Choose(#[from] ChooseError),
    #[error("{0}")]
    NoTests(String),
    #[error("the device `{device}` of {model} is missing: {reason}")]
    NoDevice { model: String, device: String, reason: String },

    // Runs, and what they leave behind.
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{model} could not generate text: {reason}")]
    Generate { model: String, reason: String },
    #[error("{0} has no figures by layer: its test layers::drift reported none")]
    NoDrift(String),
    #[error(transparent)]
    Changes(#[from] ChangesError),
    #[error(
        "found {}: `cargo npugate unreferenced --delete` deletes the files that nothing refers to",
        text::count(*count, "leftover")
    )]
    Unreferenced { count: usize },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    File(#[from] FileError),

    // Weights, goldens, kernels, the device.
    #[error("the weights of {model} could not be fetched: {source}")]
    Fetch { model: String, source: FetchError },
    #[error("{0} has no weights to fetch")]
    NoWeights(String),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Fidelity(#[from] FidelityError),
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl Error {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(error) => error.exit_code(),
            Self::Workspace(error) => error.exit_code(),
            Self::Build(error) => error.exit_code(),
            Self::Gate(error) => error.exit_code(),
            Self::Choose(error) => error.exit_code(),
            Self::Changes(error) => error.exit_code(),
            Self::File(error) => error.exit_code(),
            Self::Fetch { source, .. } => source.exit_code(),
            Self::Record(error) => error.exit_code(),
            Self::Environment(_) | Self::WhichModel(_) => ExitCode::Usage,
            Self::NoTests(_) => ExitCode::NoTests,
            Self::NoDevice { .. } => ExitCode::DeviceUnavailable,
            Self::Unreferenced { .. } => ExitCode::Unreferenced,
            Self::Registry(RegistryError::Write { .. }) | Self::Setup(SetupError::Write { .. }) => {
                ExitCode::WriteFailed
            }
            Self::Config(_)
            | Self::LastFailed(_)
            | Self::Run(_)
            | Self::Merge(_)
            | Self::Generate { .. }
            | Self::NoDrift(_)
            | Self::NoWeights(_)
            | Self::Registry(_)
            | Self::Fidelity(_)
            | Self::Setup(_) => ExitCode::Setup,
        }
    }
}

impl From<io::Error> for Error {
    /// Only printing to stdout fails this way: the errors of files name the file.
    fn from(error: io::Error) -> Self {
        FileError::Stdout(error).into()
    }
}

//! Why a command could not do what it was asked for. Each message is one
//! sentence that says what is wrong, where, and what to do.

use crate::fetch::FetchError;
use crate::filter::FilterError;
use crate::last_failed::LastFailedError;
use crate::merge::MergeError;
use crate::profile::ConfigError;
use npugate_kernels::{fidelity::FidelityError, registry::RegistryError};
use npugate_schema::{BaselineError, ExitCode, Phase};
use npugate_xrt::setup::SetupError;
use std::{ffi::OsString, io, path::PathBuf};

/// Why a command could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    // The command line.
    #[error("NPUGATE_UPDATE is `{0}`; it can be `new`, `no` or `always`")]
    UpdateMode(String),
    #[error(
        "--baseline save writes baselines, which NPUGATE_UPDATE=no forbids, and CI without NPUGATE_UPDATE: leave it out, or set NPUGATE_UPDATE=always"
    )]
    SaveForbidden,
    #[error(
        "a smoke run has figures of other shapes, which no baseline can hold: leave --smoke or --baseline save out"
    )]
    SmokeBaseline,
    #[error(
        "`cargo npugate {command}` runs no tests: leave the options that choose or run tests out"
    )]
    TestOptions { command: &'static str },
    #[error(
        "`cargo npugate {command}` is about the NPU of this machine, which `{device}` is not: say `--device xrt`, or leave it out"
    )]
    NotHardware { command: &'static str, device: String },
    #[error(
        "--no-capture lets the gates write to stdout, which --message-format keeps for messages: leave one of them out, or write the messages to a file with --results PATH"
    )]
    SharedStdout,
    #[error("say one of --ignored, --include-ignored and --run-ignored")]
    RunIgnored,
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    LastFailed(#[from] LastFailedError),
    #[error("phase `{phase}` is not of this command, which runs {}", join(known))]
    Phase { phase: Phase, known: Vec<Phase> },
    #[error("the prompt is empty: say what the model is to continue")]
    EmptyPrompt,
    #[error("which model? say `-p NAME`, one of {}", .0.join(", "))]
    WhichModel(Vec<String>),

    // The workspace.
    #[error("`cargo metadata` failed: {0}")]
    Metadata(String),
    #[error(
        "no adapter in the workspace {root}: an adapter is a package with `[package.metadata.npugate]` and `gate = \"TEST TARGET\"` in its Cargo.toml"
    )]
    NoAdapters { root: String },
    #[error("no adapter package or model is called `{name}`; there are {}", known.join(", "))]
    UnknownAdapter { name: String, known: Vec<String> },
    #[error("no adapter is left to run; there are {}: select with -p or --workspace", .0.join(", "))]
    NothingSelected(Vec<String>),
    #[error("[workspace.metadata.npugate] of {manifest} cannot be read: {source}")]
    WorkspaceMetadata { manifest: String, source: serde_json::Error },
    #[error("[package.metadata.npugate] of {manifest} cannot be read: {source}")]
    AdapterMetadata { manifest: String, source: serde_json::Error },
    #[error(
        "{manifest} names the gate `{gate}`, but has no such test target: add `[[test]]` with `name = \"{gate}\"` and `harness = false`"
    )]
    NoGateTarget { manifest: String, gate: String },

    // The build.
    #[error("{} cannot be started: {source}", program.display())]
    Start { program: OsString, source: io::Error },
    #[error("the adapters did not build: cargo says why above")]
    Build,
    #[error("cargo built no executable for the test target `{gate}` of {package}")]
    NoExecutable { package: String, gate: String },

    // Gate binaries.
    #[error("the gate of {package} refuses its arguments: {message}")]
    Refused { package: String, message: String },
    #[error("the gate of {package} could not {what}: {reason}")]
    Protocol { package: String, what: &'static str, reason: String },
    #[error("the output of a gate cannot be followed: {0}")]
    Events(io::Error),
    #[error("{0}")]
    NoTests(String),
    #[error("the device `{device}` of {model} is missing: {reason}")]
    NoDevice { model: String, device: String, reason: String },
    #[error("{model} could not generate: {reason}")]
    Generate { model: String, reason: String },
    #[error("{0} has no figures by layer: its test layers::drift left none")]
    NoDrift(String),

    // The registry.
    #[error("{0}")]
    RegistryUsage(String),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Fidelity(#[from] FidelityError),

    // The device.
    #[error(transparent)]
    Setup(#[from] SetupError),

    // Files.
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be deleted: {source}", path.display())]
    Delete { path: PathBuf, source: io::Error },
    #[error(
        "{}: `cargo npugate unreferenced --delete` removes files that nothing refers to",
        crate::text::count(*count, "leftover")
    )]
    Unreferenced { count: usize },
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    #[error("no pending change has {} in its test's name; `cargo npugate pending` prints them", quote(.0))]
    NoPendingMatch(Vec<String>),
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error("stdout cannot be written: {0}")]
    Stdout(#[from] io::Error),

    // Weights and goldens.
    #[error("the weights of {model} could not be fetched: {source}")]
    Fetch { model: String, source: FetchError },
    #[error("{0} has no weights to fetch")]
    NoWeights(String),
    #[error(
        "there is no {} in {}: name the recorder's folder with --recorder",
        file,
        folder.display()
    )]
    NoRecorder { file: &'static str, folder: PathBuf },
    #[error("the recorder's Python environment could not be made: {0}")]
    RecorderEnvironment(String),
}

impl Error {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::UpdateMode(_)
            | Self::SaveForbidden
            | Self::SmokeBaseline
            | Self::TestOptions { .. }
            | Self::RunIgnored
            | Self::NotHardware { .. }
            | Self::Phase { .. }
            | Self::SharedStdout
            | Self::EmptyPrompt
            | Self::RegistryUsage(_)
            | Self::WhichModel(_)
            | Self::Refused { .. } => ExitCode::Usage,
            Self::Filter(_) => ExitCode::BadFilter,
            Self::Metadata(_) => ExitCode::MetadataFailed,
            Self::Registry(RegistryError::Write { .. })
            | Self::Write { .. }
            | Self::Delete { .. }
            | Self::Setup(SetupError::Write { .. })
            | Self::Stdout(_) => ExitCode::WriteFailed,
            Self::Unreferenced { .. } => ExitCode::Unreferenced,
            Self::NoAdapters { .. }
            | Self::Config(_)
            | Self::LastFailed(_)
            | Self::Registry(_)
            | Self::UnknownAdapter { .. }
            | Self::NothingSelected(_)
            | Self::AdapterMetadata { .. }
            | Self::WorkspaceMetadata { .. }
            | Self::Fidelity(_)
            | Self::NoGateTarget { .. }
            | Self::Start { .. }
            | Self::Events(_)
            | Self::Generate { .. }
            | Self::NoDrift(_)
            | Self::Read { .. }
            | Self::Baseline(_)
            | Self::Merge(_)
            | Self::NoWeights(_)
            | Self::NoRecorder { .. }
            | Self::RecorderEnvironment(_)
            | Self::Setup(_) => ExitCode::Setup,
            Self::Build | Self::NoExecutable { .. } => ExitCode::BuildFailed,
            Self::Protocol { .. } => ExitCode::ListingFailed,
            Self::NoDevice { .. } => ExitCode::DeviceUnavailable,
            Self::NoTests(_) | Self::NoPendingMatch(_) => ExitCode::NoTests,
            Self::Fetch { source, .. } => source.exit_code(),
        }
    }
}

fn join(phases: &[Phase]) -> String {
    phases.iter().map(|phase| phase.as_str()).collect::<Vec<_>>().join(", ")
}

fn quote(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

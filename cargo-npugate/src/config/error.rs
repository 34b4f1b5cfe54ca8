//! Options that make no sense, alone or together.

use crate::filter::FilterError;
use npugate_schema::{ExitCode, Phase};

/// Options that make no sense, alone or together.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    #[error(
        "--baseline save writes baselines, which NPUGATE_UPDATE=no, the default on CI, forbids: leave it out, or set NPUGATE_UPDATE=always"
    )]
    SaveForbidden,
    #[error(
        "a smoke run measures other shapes, whose figures do not belong in a baseline: leave out --smoke or --baseline save"
    )]
    SmokeBaseline,
    #[error(
        "`cargo npugate {command}` is about the NPU of this machine, which `{device}` is not: use `--device xrt`, or leave it out"
    )]
    NotHardware { command: &'static str, device: String },
    #[error(
        "--no-capture lets the gates write to stdout, which --message-format reserves for messages: leave out one of them, or write the messages to a file with --results PATH"
    )]
    SharedStdout,
    #[error("--ignored, --include-ignored and --run-ignored contradict each other: give only one")]
    RunIgnored,
    #[error("phase `{phase}` does not belong to this command, which runs {}", join(known))]
    Phase { phase: Phase, known: Vec<Phase> },
    #[error("the prompt is empty: give the text that the model is to continue")]
    EmptyPrompt,
    #[error("{0}")]
    Registry(String),
    #[error(transparent)]
    Filter(#[from] FilterError),
}

impl UsageError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Filter(_) => ExitCode::BadFilter,
            _ => ExitCode::Usage,
        }
    }
}

fn join(phases: &[Phase]) -> String {
    phases.iter().map(|phase| phase.as_str()).collect::<Vec<_>>().join(", ")
}

//! A gate binary, as a program to query and to run.

use crate::cli::DeviceArgs;
use crate::selection::Selection;
use crate::start::StartError;
use crate::target_runner::target_runner;
use crate::text;
use crate::workspace::Adapter;
use camino::Utf8PathBuf;
use npugate_schema::{
    Description, EVENTS_VAR, ExitCode, LISTING_SCHEMA, Listing, WEIGHTS_DIR_VAR, WeightsSource,
};
use serde::de::DeserializeOwned;
use std::{
    env,
    ffi::OsString,
    path::{self, Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Variables that hold a path. A relative path is relative to the current folder of this
/// program, but a gate runs in the folder of its package.
const PATH_VARIABLES: [&str; 3] = [WEIGHTS_DIR_VAR, "NPUGATE_FIXTURES", "NPUGATE_EVIDENCE"];

/// The exit code of a gate binary that does not understand its arguments.
const USAGE: i32 = 2;

/// Why a gate binary does not answer a query.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the gate of {package} refused its arguments: {message}")]
    Refused { package: String, message: String },
    #[error("the gate of {package} could not {what}: {reason}")]
    Protocol { package: String, what: &'static str, reason: String },
}

impl GateError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Start(_) => ExitCode::Setup,
            Self::Refused { .. } => ExitCode::Usage,
            Self::Protocol { .. } => ExitCode::ListingFailed,
        }
    }
}

/// A built gate binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gate {
    /// Its package.
    pub adapter: Adapter,
    /// The binary.
    pub executable: Utf8PathBuf,
}

impl Gate {
    /// Calls the binary as `cargo test` would: in the package's folder, with the package's
    /// variables, under cargo's runner if there is one. The variables are set because this
    /// command may itself run under `cargo run`, which sets those of another package.
    pub fn command(&self) -> Command {
        let mut command = match target_runner().split_first() {
            Some((runner, args)) => {
                let mut command = Command::new(runner);
                command.args(args).arg(&self.executable);
                command
            }
            None => Command::new(&self.executable),
        };
        command
            .current_dir(self.adapter.folder())
            .env("CARGO_MANIFEST_DIR", self.adapter.folder())
            .env("CARGO_MANIFEST_PATH", &self.adapter.manifest)
            .env("CARGO_PKG_NAME", &self.adapter.package)
            .env("CARGO_PKG_VERSION", &self.adapter.version)
            .env_remove(EVENTS_VAR)
            // This command compares baselines itself, so it needs the gates' own results.
            .env_remove("NPUGATE_BASELINE")
            .stdin(Stdio::null());
        for name in PATH_VARIABLES {
            let value = env::var_os(name).filter(|value| !value.is_empty());
            if let Some(path) = value.and_then(|value| path::absolute(value).ok()) {
                command.env(name, path);
            }
        }
        command
    }

    /// Calls the binary to run tests and append its events to a file.
    pub fn run_command(&self, args: Vec<OsString>, events: &Path) -> Command {
        let mut command = self.command();
        command.args(args).env(EVENTS_VAR, events);
        command
    }

    /// What the binary reports about itself, with absolute paths.
    ///
    /// # Errors
    ///
    /// The binary cannot be started, refuses its arguments, or prints no description.
    pub fn describe(&self, device: &DeviceArgs) -> Result<Description, GateError> {
        let mut command = self.command();
        command.arg("--describe").args(device.to_args());
        let output = self.ask(command, "describe itself")?;
        let mut description: Description = self.parse(&output, "describe itself")?;
        let folder = self.adapter.folder();
        let from_here = |path: &mut PathBuf| *path = folder.as_std_path().join(&*path);
        description.fixtures.iter_mut().for_each(from_here);
        if let Some(weights) = &mut description.weights {
            weights.path.iter_mut().for_each(from_here);
            if let WeightsSource::Bundled { path } = &mut weights.source {
                from_here(path);
            }
        }
        Ok(description)
    }

    /// The tests that a selection takes, including those that are off by default.
    ///
    /// # Errors
    ///
    /// Those of [`Gate::describe`].
    pub fn list(&self, selection: &Selection, device: &DeviceArgs) -> Result<Listing, GateError> {
        const WHAT: &str = "list its tests";
        let mut command = self.command();
        command.args(["--list", "--format", "json"]);
        command.args(selection.list_args()).args(device.to_args());
        let output = self.ask(command, WHAT)?;
        let mut listing: Listing = self.parse(&output, WHAT)?;
        listing.tests.retain(|test| selection.admits(&test.name));
        if listing.schema == LISTING_SCHEMA {
            Ok(listing)
        } else {
            let reason = format!(
                "it lists tests in the format `{}`, but this command reads `{LISTING_SCHEMA}`: use the same version of the npugate crate and of cargo-npugate",
                listing.schema
            );
            Err(self.protocol(WHAT, reason))
        }
    }

    fn ask(&self, mut command: Command, what: &'static str) -> Result<Output, GateError> {
        let output = command.output().map_err(|source| StartError::new(&command, source))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => Ok(output),
            Some(USAGE) => Err(GateError::Refused {
                package: self.adapter.package.clone(),
                message: text::without_error_prefix(&stderr).to_owned(),
            }),
            _ => {
                let status = text::exit_status(output.status);
                Err(self.protocol(
                    what,
                    match text::last_line(&stderr) {
                        Some(line) => format!("{status}: {}", text::without_error_prefix(line)),
                        None => status,
                    },
                ))
            }
        }
    }

    fn parse<T: DeserializeOwned>(
        &self,
        output: &Output,
        what: &'static str,
    ) -> Result<T, GateError> {
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let printed = String::from_utf8_lossy(&output.stdout);
            let start = text::ellipsis(printed.lines().next().unwrap_or_default(), 60);
            self.protocol(
                what,
                format!("it printed `{start}`, which is not the expected JSON ({error})"),
            )
        })
    }

    fn protocol(&self, what: &'static str, reason: String) -> GateError {
        GateError::Protocol { package: self.adapter.package.clone(), what, reason }
    }
}

impl DeviceArgs {
    /// The arguments that select this device in a gate binary.
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        let mut push = |flag: &str, value: &str| args.extend([flag.into(), value.into()]);
        if let Some(device) = &self.device {
            push("--device", device);
        }
        for setting in &self.set {
            push("--set", setting);
        }
        if let Some(toolchain) = &self.toolchain {
            push("--toolchain", toolchain);
        }
        args
    }
}

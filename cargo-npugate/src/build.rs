//! Building the gates: one cargo call for all of them.

use crate::cli::CargoArgs;
use crate::environment::Environment;
use crate::gate::Gate;
use crate::shell::{Shell, Verbosity};
use crate::start::StartError;
use crate::workspace::{Adapter, Workspace};
use cargo_metadata::{Artifact, Message, TargetKind};
use npugate_schema::ExitCode;
use std::{
    collections::BTreeSet,
    io::BufReader,
    process::{Command, Stdio},
};

/// Why there are no gates to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the adapters did not build: see cargo's errors above")]
    Failed,
    #[error("cargo built no executable for the test target `{gate}` of {package}")]
    NoExecutable { package: String, gate: String },
}

impl BuildError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Start(_) => ExitCode::Setup,
            Self::Failed | Self::NoExecutable { .. } => ExitCode::BuildFailed,
        }
    }
}

/// Builds the gates of these adapters and returns them in the same order. Cargo
/// shows its own progress on stderr.
///
/// # Errors
///
/// Cargo cannot be started, fails, or builds no executable for a gate.
pub fn build(
    adapters: &[Adapter],
    workspace: &Workspace,
    cargo: &CargoArgs,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<Vec<Gate>, BuildError> {
    let mut command = command(adapters, workspace, cargo, environment, shell.verbosity());
    shell.command(&command);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|source| StartError::new(&command, source))?;
    let artifacts = child.stdout.take().map(|stdout| artifacts(BufReader::new(stdout)));
    let status = child.wait().map_err(|source| StartError::new(&command, source))?;
    if !status.success() {
        return Err(BuildError::Failed);
    }
    let artifacts = artifacts.unwrap_or_default();
    adapters.iter().map(|adapter| gate(adapter, &artifacts)).collect()
}

fn command(
    adapters: &[Adapter],
    workspace: &Workspace,
    cargo: &CargoArgs,
    environment: &Environment,
    verbosity: Verbosity,
) -> Command {
    let mut command = Command::new(environment.cargo());
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    command.args(["--profile", cargo.cargo_profile.as_ref().unwrap_or(&workspace.cargo_profile)]);
    if let Some(path) = &cargo.manifest_path {
        command.arg("--manifest-path").arg(path);
    }
    if let Some(target) = &cargo.target_dir {
        command.arg("--target-dir").arg(target);
    }
    command.args(cargo.lock_args());
    let features = &cargo.features;
    if features.all_features {
        command.arg("--all-features");
    }
    if features.no_default_features {
        command.arg("--no-default-features");
    }
    for feature in &features.features {
        command.args(["--features", feature]);
    }
    match verbosity {
        Verbosity::Quiet => _ = command.arg("--quiet"),
        Verbosity::Commands => _ = command.arg("--verbose"),
        Verbosity::Normal | Verbosity::Verbose => {}
    }
    for adapter in adapters {
        command.args(["--package", &adapter.package]);
    }
    // Cargo builds a crate anew for each set of features, and the features depend on the selected
    // packages. If all packages are selected, gates share what `cargo test --workspace` has built,
    // whichever adapters are requested. Typed features only apply to the adapters.
    if *features == clap_cargo::Features::default() {
        for package in &workspace.others {
            command.args(["--package", package]);
        }
    }
    let gates: BTreeSet<_> = adapters.iter().map(|adapter| adapter.gate.as_str()).collect();
    for gate in gates {
        command.args(["--test", gate]);
    }
    command
}

/// The artifacts among cargo's messages. Lines that are not messages are the output of
/// other programs, and are skipped.
fn artifacts(messages: impl std::io::BufRead) -> Vec<Artifact> {
    Message::parse_stream(messages)
        .filter_map(Result::ok)
        .filter_map(|message| match message {
            Message::CompilerArtifact(artifact) => Some(artifact),
            _ => None,
        })
        .collect()
}

fn gate(adapter: &Adapter, artifacts: &[Artifact]) -> Result<Gate, BuildError> {
    let executable = artifacts
        .iter()
        .filter(|artifact| artifact.package_id == adapter.id)
        .filter(|artifact| artifact.target.name == adapter.gate)
        .filter(|artifact| artifact.target.kind.contains(&TargetKind::Test))
        .find_map(|artifact| artifact.executable.clone());
    match executable {
        Some(executable) => Ok(Gate { adapter: adapter.clone(), executable }),
        None => Err(BuildError::NoExecutable {
            package: adapter.package.clone(),
            gate: adapter.gate.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::ByDefault;
    use cargo_metadata::PackageId;

    fn adapter(name: &str, gate: &str) -> Adapter {
        Adapter {
            package: name.into(),
            id: PackageId { repr: format!("path+file:///w/{name}#0.1.0") },
            version: "0.1.0".into(),
            manifest: format!("/w/{name}/Cargo.toml").into(),
            gate: gate.into(),
            model: name.into(),
            goldens: None,
            by_default: ByDefault::Run,
        }
    }

    fn workspace() -> Workspace {
        Workspace {
            root: "/w".into(),
            target: "/w/target".into(),
            registry: "/w/registry".into(),
            cargo_profile: "dev".into(),
            adapters: Vec::new(),
            others: vec!["tools".into(), "website".into()],
        }
    }

    /// The arguments of cargo for the gates of three adapters.
    fn args(cargo: &CargoArgs) -> String {
        let adapters = [adapter("a", "gate"), adapter("b", "gate"), adapter("c", "check")];
        let environment = Environment::default();
        let command = command(&adapters, &workspace(), cargo, &environment, Verbosity::Normal);
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
        args.join(" ")
    }

    #[test]
    fn one_call_builds_all_gates_with_the_features_of_the_whole_workspace() {
        assert_eq!(
            args(&CargoArgs { locked: true, ..CargoArgs::default() }),
            "test --no-run --message-format=json-render-diagnostics --profile dev --locked \
             --package a --package b --package c --package tools --package website \
             --test check --test gate"
        );
    }

    #[test]
    fn a_typed_profile_wins_and_typed_features_only_apply_to_adapters() {
        let mut features = clap_cargo::Features::default();
        features.features.push("gguf".to_owned());
        let cargo_profile = Some("release".to_owned());
        assert_eq!(
            args(&CargoArgs { cargo_profile, features, ..CargoArgs::default() }),
            "test --no-run --message-format=json-render-diagnostics --profile release \
             --features gguf --package a --package b --package c --test check --test gate"
        );
    }

    #[test]
    fn a_gate_is_found_by_package_and_target_among_other_output() {
        let artifact = |package: &str, target: &str, kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/{package}#0.1.0",
                "manifest_path":"/w/{package}/Cargo.toml","target":{{"kind":["{kind}"],
                "crate_types":["bin"],"name":"{target}","src_path":"/w/x.rs","edition":"2024",
                "doc":false,"doctest":false,"test":true}},"profile":{{"opt_level":"3",
                "debuginfo":0,"debug_assertions":false,"overflow_checks":false,"test":true}},
                "features":[],"filenames":[],"executable":"{executable}","fresh":true}}"#
            )
            .replace('\n', "")
        };
        let messages = [
            artifact("b", "gate", "test", "/t/b"),
            "a build script prints this".into(),
            artifact("a", "gate", "bin", "/t/not-a-test"),
            artifact("a", "gate", "test", "/t/a"),
        ];
        let artifacts = artifacts(messages.join("\n").as_bytes());
        assert_eq!(gate(&adapter("a", "gate"), &artifacts).unwrap().executable, "/t/a");
        let missing = gate(&adapter("c", "gate"), &artifacts).unwrap_err();
        assert!(matches!(missing, BuildError::NoExecutable { .. }));
    }
}

//! Recording goldens. The recorder is a Python program of the workspace, which runs in its
//! own environment. The environment is created once for its requirements.

use crate::cli::RecordArgs;
use crate::environment::Environment;
use crate::files::FileError;
use crate::shell::{Shell, Tone};
use crate::start::StartError;
use crate::text;
use crate::workspace::{Adapter, Workspace, WorkspaceError};
use fs_err as fs;
use npugate_schema::{ExitCode, Sha256, WEIGHTS_DIR_VAR, cache_folder, write_atomically};
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// The files in the recorder's folder.
const RECORDER: &str = "record.py";
const REQUIREMENTS: &str = "requirements.txt";

/// Written last, so that an incomplete environment is created again.
const READY: &str = ".npugate-ready";

/// Why goldens cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(
        "there is no {} in {}: give the recorder's folder with --recorder",
        file,
        folder.display()
    )]
    NoRecorder { file: &'static str, folder: PathBuf },
    #[error("the recorder's Python environment could not be created: {0}")]
    Environment(String),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl RecordError {
    /// How the command ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Workspace(error) => error.exit_code(),
            Self::File(error) => error.exit_code(),
            Self::NoRecorder { .. } | Self::Environment(_) | Self::Start(_) => ExitCode::Setup,
        }
    }
}

/// Where the recorder finds what it needs.
struct Places<'a> {
    /// The workspace's root.
    root: &'a Path,
    /// Where its environment is kept.
    cache: &'a Path,
    /// Where `fetch` has put weights, unless the user has set a variable for it, which the
    /// recorder reads too.
    weights: Option<&'a Path>,
}

/// Records the goldens of a model and returns the recorder's own exit status.
///
/// # Errors
///
/// No model has the name, there is no recorder, or its environment cannot be created.
pub fn record(
    args: &RecordArgs,
    workspace: &Workspace,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<ExitStatus, RecordError> {
    let model = model(args, &workspace.adapters)?;
    let cache = cache_folder();
    let given = env::var_os(WEIGHTS_DIR_VAR).is_some_and(|value| !value.is_empty());
    let weights = cache.as_ref().filter(|_| !given).map(|cache| cache.join("weights"));
    let places = Places {
        root: workspace.root.as_std_path(),
        cache: &cache.unwrap_or_else(|| workspace.target.as_std_path().join("npugate")),
        weights: weights.as_deref(),
    };
    record_with(&model, args, &places, environment, shell)
}

fn record_with(
    model: &str,
    args: &RecordArgs,
    &Places { root, cache, weights }: &Places<'_>,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<ExitStatus, RecordError> {
    let fixtures = || root.join("fixtures");
    let recorder = args.recorder.clone().unwrap_or_else(|| fixtures().join("recorder"));
    let script = find(&recorder, RECORDER)?;
    let requirements = find(&recorder, REQUIREMENTS)?;
    let python = python(&requirements, cache, environment, shell)?;
    let mut command = Command::new(&python);
    command.arg(&script).arg(model).arg("--fixtures");
    command.arg(args.fixtures.clone().unwrap_or_else(fixtures));
    if let Some(weights) = &args.weights {
        command.arg("--weights").arg(weights);
    }
    if let Some(folder) = weights {
        command.env(WEIGHTS_DIR_VAR, folder);
    }
    shell.command(&command);
    shell.status(Tone::Good, "Recording", model);
    shell.share_terminal();
    Ok(run(&mut command)?)
}

fn find(folder: &Path, file: &'static str) -> Result<PathBuf, RecordError> {
    let path = folder.join(file);
    // The child may have another current folder.
    fs::canonicalize(path).map_err(|_| RecordError::NoRecorder { file, folder: folder.to_owned() })
}

/// The Python interpreter of the recorder's environment, which is created if there is none
/// for these requirements.
fn python(
    requirements: &Path,
    cache: &Path,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<PathBuf, RecordError> {
    let read = |source| FileError::Read { path: requirements.to_owned(), source };
    let digest = Sha256::of_file(requirements).map_err(read)?.to_string();
    let folder = cache.join("recorder").join(&digest[..16]);
    let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let python = folder.join(python);
    let ready = folder.join(READY);
    if ready.exists() && python.exists() {
        return Ok(python);
    }
    let place = folder.display();
    let message = format!("{place}: PyTorch and transformers, about 5 GB on disk, only this once");
    shell.status(Tone::Good, "Installing", message);
    shell.share_terminal();
    let failed = |what: &str, status: ExitStatus| {
        RecordError::Environment(format!("{what} ended with {}", text::exit_status(status)))
    };
    let mut venv = Command::new(environment.python());
    // An earlier attempt may have left an incomplete environment.
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    let status = run(&mut venv)?;
    if !status.success() {
        return Err(failed("`python -m venv`", status));
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    let status = run(pip.arg(requirements))?;
    if !status.success() {
        return Err(failed("`pip install`", status));
    }
    write_atomically(&ready, digest.as_bytes())
        .map_err(|source| FileError::Write { path: ready, source })?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<ExitStatus, StartError> {
    command.stdin(Stdio::null()).status().map_err(|source| StartError::new(command, source))
}

/// The recorder's name of a model: the model's own name, even if the adapter's package was
/// given. With another recorder any name is accepted, because it may know other models.
fn model(args: &RecordArgs, adapters: &[Adapter]) -> Result<String, WorkspaceError> {
    match adapters.iter().find(|adapter| adapter.is_called(&args.model)) {
        Some(adapter) => Ok(adapter.model.clone()),
        None if args.recorder.is_some() => Ok(args.model.clone()),
        None => Err(WorkspaceError::UnknownAdapter {
            name: args.model.clone(),
            known: adapters.iter().map(|adapter| adapter.model.clone()).collect(),
        }),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::shell::{Verbosity, testing::Printed};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_missing_recorder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let args = RecordArgs {
            model: "tiny".into(),
            recorder: Some(folder.path().join("none")),
            fixtures: None,
            weights: None,
        };
        let mut shell = Printed::default().shell(Verbosity::Normal);
        let here = folder.path();
        let places = Places { root: here, cache: here, weights: None };
        let error =
            record_with("tiny", &args, &places, &Environment::default(), &mut shell).unwrap_err();
        assert!(error.to_string().starts_with("there is no record.py in "), "{error}");
    }

    /// Shell scripts replace the programs of an environment: the outer "python" creates an
    /// inner one, which logs its arguments.
    #[test]
    fn the_environment_is_created_once_and_the_recorder_s_status_is_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let recorder = here.join("fixtures/recorder");
        fs::create_dir_all(&recorder).unwrap();
        fs::write(recorder.join(RECORDER), "").unwrap();
        fs::write(recorder.join(REQUIREMENTS), "torch==1\n").unwrap();
        let script = |path: &Path, text: &str| {
            fs::write(path, format!("#!/bin/sh\n{text}")).unwrap();
            fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        let (inner, outer, log) = (here.join("inner"), here.join("outer"), here.join("log"));
        script(
            &inner,
            &format!(
                "echo \"$@ in $NPUGATE_WEIGHTS_DIR\" >> {}\ncase \"$1\" in *record.py) exit 7;; esac",
                log.display()
            ),
        );
        let venv = "mkdir -p \"$4/bin\" && cp";
        script(&outer, &format!("{venv} {} \"$4/bin/python\"", inner.display()));

        let environment = Environment { python: Some(outer.into()), ..Environment::default() };
        let printed = Printed::default();
        let mut shell = printed.shell(Verbosity::Normal);
        let args = RecordArgs {
            model: "tiny".into(),
            recorder: None,
            fixtures: None,
            weights: Some("w".into()),
        };
        for _ in 0..2 {
            let (cache, weights) = (here.join("cache"), here.join("fetched"));
            let places = Places { root: here, cache: &cache, weights: Some(&weights) };
            let status = record_with("tiny", &args, &places, &environment, &mut shell).unwrap();
            assert_eq!(status.code(), Some(7));
        }
        let log = fs::read_to_string(log).unwrap();
        assert_eq!(log.matches("-m pip install").count(), 1, "{log}");
        assert_eq!(log.matches("record.py tiny --fixtures").count(), 2, "{log}");
        let weights = format!("--weights w in {}\n", here.join("fetched").display());
        assert!(log.contains(&weights), "{log}");
        assert_eq!(printed.text().matches("Installing").count(), 1);
    }
}

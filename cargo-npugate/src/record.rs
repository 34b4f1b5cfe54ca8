//! Recording goldens: the recorder is a Python program of the workspace, run in
//! an environment of its own that is made once for its requirements.

use crate::cli::RecordArgs;
use crate::config::Environment;
use crate::error::Error;
use crate::shell::{Shell, Tone};
use crate::text;
use crate::workspace::Workspace;
use fs_err as fs;
use npugate_schema::{Sha256, write_atomically};
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// What the recorder's folder has in it.
const RECORDER: &str = "record.py";
const REQUIREMENTS: &str = "requirements.txt";

/// Written last, so that an environment that was cut short is made again.
const READY: &str = ".npugate-ready";

/// Records the goldens of a model and returns the recorder's own exit status.
///
/// # Errors
///
/// No recorder, or an environment for it that cannot be made.
pub fn record(
    args: &RecordArgs,
    workspace: &Workspace,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<ExitStatus, Error> {
    let cache = cache_folder(|name| env::var_os(name))
        .unwrap_or_else(|| workspace.target.as_std_path().join("npugate"));
    record_with(args, workspace.root.as_std_path(), &cache, environment, shell)
}

fn record_with(
    args: &RecordArgs,
    root: &Path,
    cache: &Path,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<ExitStatus, Error> {
    let fixtures = || root.join("fixtures");
    let recorder = args.recorder.clone().unwrap_or_else(|| fixtures().join("recorder"));
    let script = find(&recorder, RECORDER)?;
    let requirements = find(&recorder, REQUIREMENTS)?;
    let python = python(&requirements, cache, environment, shell)?;
    let mut command = Command::new(&python);
    command.arg(&script).arg(&args.model).arg("--fixtures");
    command.arg(args.fixtures.clone().unwrap_or_else(fixtures));
    if let Some(weights) = &args.weights {
        command.arg("--weights").arg(weights);
    }
    shell.command(&command);
    shell.status(Tone::Good, "Recording", &args.model);
    shell.share_terminal();
    run(&mut command)
}

fn find(folder: &Path, file: &'static str) -> Result<PathBuf, Error> {
    let path = folder.join(file);
    // Another folder may be current in the child.
    fs::canonicalize(path).map_err(|_| Error::NoRecorder { file, folder: folder.to_owned() })
}

/// The Python of the recorder's environment, which is made if there is none for
/// these requirements.
fn python(
    requirements: &Path,
    cache: &Path,
    environment: &Environment,
    shell: &mut Shell,
) -> Result<PathBuf, Error> {
    let read = |source| Error::Read { path: requirements.to_owned(), source };
    let digest = Sha256::of_file(requirements).map_err(read)?.to_string();
    let folder = cache.join("recorder").join(&digest[..16]);
    let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let python = folder.join(python);
    let ready = folder.join(READY);
    if ready.exists() && python.exists() {
        return Ok(python);
    }
    let place = folder.display();
    let message = format!("{place}: PyTorch and transformers, about 5 GB on disk, this once");
    shell.status(Tone::Good, "Installing", message);
    shell.share_terminal();
    let failed = |what: &str, status: ExitStatus| {
        Error::RecorderEnvironment(format!("{what} ended with {}", text::exit_status(status)))
    };
    let mut venv = Command::new(environment.python());
    // An earlier attempt may have left half of one.
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
        .map_err(|source| Error::Write { path: ready, source })?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<ExitStatus, Error> {
    command
        .stdin(Stdio::null())
        .status()
        .map_err(|source| Error::Start { program: command.get_program().to_owned(), source })
}

/// `npugate` in the user's cache folder, by the platform's convention.
fn cache_folder(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        path("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        path("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("npugate"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::shell::{Verbosity, testing::Printed};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_cache_is_where_the_platform_says() {
        let find = |pairs: &'static [(&str, &str)]| {
            cache_folder(move |name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            })
        };
        if cfg!(target_os = "linux") {
            assert_eq!(find(&[("HOME", "/h")]), Some("/h/.cache/npugate".into()));
            let both = find(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]);
            assert_eq!(both, Some("/c/npugate".into()));
            let relative = find(&[("HOME", "/h"), ("XDG_CACHE_HOME", "c")]);
            assert_eq!(relative, Some("/h/.cache/npugate".into()));
        }
        assert_eq!(find(&[]), None);
    }

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
        let error =
            record_with(&args, here, here, &Environment::default(), &mut shell).unwrap_err();
        assert!(error.to_string().starts_with("there is no record.py in "), "{error}");
    }

    /// The programs of an environment are stood in for by shell scripts: the
    /// outer "python" makes an inner one, which logs what it is asked to do.
    #[test]
    fn the_environment_is_made_once_and_the_recorder_s_status_passed_on() {
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
            &format!("echo \"$@\" >> {}\ncase \"$1\" in *record.py) exit 7;; esac", log.display()),
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
            let cache = here.join("cache");
            let status = record_with(&args, here, &cache, &environment, &mut shell).unwrap();
            assert_eq!(status.code(), Some(7));
        }
        let log = fs::read_to_string(log).unwrap();
        assert_eq!(log.matches("-m pip install").count(), 1, "{log}");
        assert_eq!(log.matches("record.py tiny --fixtures").count(), 2, "{log}");
        assert!(log.contains("--weights w"), "{log}");
        assert_eq!(printed.text().matches("Installing").count(), 1);
    }
}

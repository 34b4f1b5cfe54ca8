//! Runs `cargo npugate` and its gate binaries as a user would.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

/// The root of this repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The target folder that this test was built in.
pub fn target_dir() -> PathBuf {
    let test = env::current_exe().unwrap_or_else(|error| panic!("no path of this test: {error}"));
    // TARGET/debug/deps/test
    test.ancestors().nth(3).unwrap_or(&test).to_owned()
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// The same, after asserting on the exit code.
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The same, after asserting that stderr says something.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no `{text}` in stderr:\n{}", self.stderr);
        self
    }
}

/// A command whose environment does not depend on who runs the tests.
pub fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let ours = ["NPUGATE_", "NEXTEST", "CARGO_PKG_", "CARGO_MANIFEST_", "GITHUB_"];
        if ours.iter().any(|prefix| name.starts_with(prefix)) || name == "CI" {
            command.env_remove(name);
        }
    }
    command
        .env("CARGO_TARGET_DIR", target_dir())
        .env("CARGO_TERM_COLOR", "never")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null());
    command
}

/// Reports that a test cannot run here. On CI every test must run, so this fails.
pub fn skip(why: &str) {
    assert!(env::var_os("CI").is_none(), "cannot run on CI: {why}");
    eprintln!("SKIPPED: {why}");
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ran {
    let ran = command.output();
    ran.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")).into()
}

/// The path of the command, as `cargo npugate` builds it in a clone.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let mut build = clean(env!("CARGO"));
        build.current_dir(repository());
        build.args(["build", "--quiet", "--package", "npugate-clone"]);
        let _ = run(&mut build).exits(0);
        target_dir().join("debug").join("npugate-clone")
    })
}

/// The options of cargo that select the gate of tiny-llama. All other packages are selected with
/// it, so that the features are those of `cargo test --workspace` and nothing is rebuilt.
pub const TINY_LLAMA: [&str; 5] = ["--workspace", "--exclude", "smollm2-135m", "--test", "gate"];

/// `cargo npugate ARGS` in this repository, which fetches nothing and writes no baseline.
pub fn npugate<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = clean(binary());
    command.current_dir(repository()).env("NPUGATE_UPDATE", "no").arg("npugate").args(args);
    command
}

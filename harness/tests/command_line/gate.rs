//! Starting this binary as a toy's gate.

use std::{
    env,
    process::{Command, Output, Stdio},
};

/// The gate binary of a toy, in an environment without the variables that it reads.
pub fn command(toy: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let read = ["NPUGATE_", "RUST_TEST_", "NEXTEST", "CLICOLOR", "CARGO_TERM_COLOR"];
        if read.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&*name);
        }
    }
    command.env("TOY", toy).args(args).stdin(Stdio::null());
    command
}

/// What a gate printed, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

pub fn run(toy: &str, args: &[&str]) -> Ran {
    Ran::of(command(toy, args).output().unwrap())
}

pub fn run_with(toy: &str, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    Ran::of(command(toy, args).envs(variables.iter().copied()).output().unwrap())
}

/// The names that a gate lists, by nextest's protocol.
pub fn names(toy: &str, args: &[&str]) -> Vec<String> {
    let mut all = vec!["--list", "--format", "terse"];
    all.extend(args);
    let ran = run(toy, &all);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out.lines().map(|line| line.strip_suffix(": test").unwrap().to_owned()).collect()
}

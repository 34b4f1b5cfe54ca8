//! A process of its own for a scenario.

use std::{
    env,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::scenario::Scenario;

/// The environment variable that names the folder that `ci.sh` made.
const ROOT: &str = "NPUGATE_TEST_XRT_ROOT";
/// The environment variable that tells a child which scenario to play.
const SCENARIO: &str = "NPUGATE_TEST_SCENARIO";
/// The prefix of each line of a child that is for its parent.
const MARK: &str = "@@ ";
/// A child that takes longer than this hangs: the slowest takes a second.
const PATIENCE: Duration = Duration::from_mins(1);

/// The outcome of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It succeeded, with this text.
    Done(String),
    /// XRT failed.
    Failed {
        /// The name of the error's variant.
        kind: String,
        /// The error's message.
        text: String,
    },
    /// Its parent killed it after the time limit.
    Killed,
}

/// Plays a scenario with these faults; `None` if there is no XRT.
///
/// # Panics
/// If the child ends without an outcome.
pub fn play(scenario: Scenario, faults: &[(&str, &str)]) -> Option<Outcome> {
    play_for(PATIENCE, scenario, faults)
}

/// As [`play`], with another time limit.
pub fn play_for(
    patience: Duration,
    scenario: Scenario,
    faults: &[(&str, &str)],
) -> Option<Outcome> {
    let Some(root) = env::var_os(ROOT).filter(|root| !root.is_empty()).map(PathBuf::from) else {
        eprintln!("SKIPPED: {ROOT} is not set; `kernels/xrt/ci.sh` fetches XRT and sets it");
        return None;
    };
    let child = Command::new(root.join("runner.sh"))
        .arg(env::current_exe().unwrap())
        .args(["child::plays_a_scenario", "--exact", "--ignored", "--nocapture"])
        .env(SCENARIO, scenario.to_string())
        .envs(faults.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    if let Some(child) = wait(child, patience) {
        let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        Some(outcome(&output))
    } else {
        Some(Outcome::Killed)
    }
}

/// Waits for a child to end; kills it if it does not.
fn wait(mut child: Child, patience: Duration) -> Option<Child> {
    let start = Instant::now();
    // Its output fits in a pipe, so it is read after the child has ended.
    while start.elapsed() < patience {
        if child.try_wait().unwrap().is_some() {
            return Some(child);
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

fn outcome(output: &str) -> Outcome {
    // libtest writes the name of the test before it, on the same line.
    let line = output.lines().find_map(|line| line.split_once(MARK)).map(|(_, rest)| rest);
    match line.map(|line| line.split('\t').collect::<Vec<_>>()).as_deref() {
        Some(["done", text]) => Outcome::Done((*text).to_owned()),
        Some(["failed", kind, text]) => {
            Outcome::Failed { kind: (*kind).to_owned(), text: (*text).to_owned() }
        }
        _ => panic!("the child ended without an outcome: {output}"),
    }
}

#[test]
#[ignore = "the child of the others"]
fn plays_a_scenario() {
    let scenario: Scenario = env::var(SCENARIO).unwrap().parse().unwrap();
    match scenario.play() {
        Ok(text) => println!("{MARK}done\t{text}"),
        Err(error) => {
            let debug = format!("{error:?}");
            let kind: String = debug.chars().take_while(|c| c.is_alphanumeric()).collect();
            println!("{MARK}failed\t{kind}\t{}", error.to_string().replace(['\t', '\n'], " "));
        }
    }
}

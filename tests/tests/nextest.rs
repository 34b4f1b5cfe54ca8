//! A real `cargo nextest run` on the tiny model: every listed name is a separate test and
//! runs exactly once, and no two gates run at the same time.

use npugate_tests::command::{Ran, TINY_LLAMA, clean, repository, run, skip};
use std::{collections::BTreeSet, path::Path};

/// nextest with these arguments. The events of all gates go to one file.
fn nextest(args: &[&str], events: Option<&Path>) -> Option<Ran> {
    let mut probe = clean(env!("CARGO"));
    if run(probe.args(["nextest", "--version"])).code != 0 {
        skip("cargo-nextest is not installed: `cargo install --locked cargo-nextest`");
        return None;
    }
    let mut command = clean(env!("CARGO"));
    command.current_dir(repository()).arg("nextest").args(args).args(TINY_LLAMA);
    command.env("NEXTEST_NO_INPUT_HANDLER", "1");
    if let Some(path) = events {
        command.env("NPUGATE_EVENTS", path);
    }
    Some(run(&mut command))
}

fn listed_by_the_binary() -> BTreeSet<String> {
    let mut list = clean(env!("CARGO"));
    list.current_dir(repository());
    list.args(["test", "--quiet"]).args(TINY_LLAMA);
    let ran = run(list.args(["--", "--list", "--format", "terse"])).exits(0);
    let names = ran.stdout.lines().map(|line| {
        line.strip_suffix(": test").unwrap_or_else(|| panic!("not a test line: {line}")).to_owned()
    });
    names.collect()
}

/// The tests of an event stream that several processes append to, in order. Each must
/// begin after the one before it has ended; otherwise the first two that overlap are named.
fn one_at_a_time(events: &str) -> Result<Vec<String>, String> {
    let (mut running, mut ended) = (None::<String>, Vec::new());
    for line in events.lines() {
        let event: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("test_started") => {
                let name = text(&event["name"]);
                if let Some(other) = running.replace(name.clone()) {
                    return Err(format!("{name} began while {other} ran"));
                }
            }
            Some("test_finished") => {
                let name = text(&event["record"]["name"]);
                if running.take().as_ref() != Some(&name) {
                    return Err(format!("{name} ended while another ran"));
                }
                ended.push(name);
            }
            _ => {}
        }
    }
    Ok(ended)
}

#[test]
fn nextest_lists_and_runs_every_test_once_and_no_two_at_a_time() {
    let Some(listed) = nextest(&["list", "--message-format", "json"], None) else { return };
    let json: serde_json::Value = serde_json::from_str(&listed.exits(0).stdout).unwrap();
    let suites = json["rust-suites"].as_object().unwrap();
    let gate = suites.values().find(|suite| suite["binary-name"] == "gate").unwrap();
    let cases = gate["testcases"].as_object().unwrap();
    let listed: BTreeSet<_> = cases.keys().cloned().collect();
    assert_eq!(listed, listed_by_the_binary());
    let ignored = cases.values().filter(|case| case["ignored"] == true).count();
    assert!(ignored > 0, "the long set is listed as ignored");

    let events = tempfile::NamedTempFile::new().unwrap();
    // More threads than gates may run at a time, on any machine.
    let args = ["run", "--no-fail-fast", "--test-threads", "4"];
    let Some(ran) = nextest(&args, Some(events.path())) else { return };
    let ran = ran.exits(0);
    let passed = listed.len() - ignored;
    assert!(
        ran.stderr.contains(&format!("{passed} tests run: {passed} passed")),
        "expected {passed} tests:\n{}",
        ran.stderr
    );
    let events = fs_err::read_to_string(events.path()).unwrap();
    let ended = one_at_a_time(&events).unwrap_or_else(|overlap| panic!("{overlap}"));
    let distinct: BTreeSet<_> = ended.iter().collect();
    assert_eq!((ended.len(), distinct.len()), (passed, passed));
    assert!(distinct.into_iter().all(|name| listed.contains(name)));
}

#[test]
fn two_tests_at_a_time_are_noticed() {
    let started = |name: &str| format!(r#"{{"event":"test_started","name":"{name}"}}"#);
    let ended = |name: &str| format!(r#"{{"event":"test_finished","record":{{"name":"{name}"}}}}"#);
    let other = r#"{"event":"run_started"}"#.to_owned();
    let stream = |lines: &[&String]| {
        let lines: Vec<_> = lines.iter().map(|line| line.as_str()).collect();
        one_at_a_time(&lines.join("\n"))
    };
    let (a, a_ended, b, b_ended) = (started("a"), ended("a"), started("b"), ended("b"));
    // Another process may start early, but its test may not.
    assert_eq!(stream(&[&a, &other, &a_ended, &b, &b_ended]).unwrap(), ["a", "b"]);
    assert_eq!(stream(&[&a, &b, &a_ended, &b_ended]).unwrap_err(), "b began while a ran");
    assert_eq!(stream(&[&a, &b_ended]).unwrap_err(), "b ended while another ran");
}

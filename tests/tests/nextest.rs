//! A real `cargo nextest run` on the tiny model: every listed name is a test of
//! its own and runs exactly once.

use npugate_tests::command::{Ran, clean, repository, run, skip};
use std::collections::BTreeSet;

fn nextest(args: &[&str]) -> Option<Ran> {
    let mut probe = clean(env!("CARGO"));
    if run(probe.args(["nextest", "--version"])).code != 0 {
        skip("cargo-nextest is not installed: `cargo install --locked cargo-nextest`");
        return None;
    }
    let mut command = clean(env!("CARGO"));
    command.current_dir(repository()).arg("nextest").args(args).args(["--package", "tiny-llama"]);
    command.env("NEXTEST_NO_INPUT_HANDLER", "1");
    Some(run(&mut command))
}

fn listed_by_the_binary() -> BTreeSet<String> {
    let mut list = clean(env!("CARGO"));
    list.current_dir(repository());
    list.args(["test", "--quiet", "--package", "tiny-llama", "--test", "gate"]);
    let ran = run(list.args(["--", "--list", "--format", "terse"])).exits(0);
    let names = ran.stdout.lines().map(|line| {
        line.strip_suffix(": test").unwrap_or_else(|| panic!("not a test line: {line}")).to_owned()
    });
    names.collect()
}

#[test]
fn nextest_lists_and_runs_every_test_once() {
    let Some(listed) = nextest(&["list", "--message-format", "json"]) else { return };
    let json: serde_json::Value = serde_json::from_str(&listed.exits(0).stdout).unwrap();
    let suites = json["rust-suites"].as_object().unwrap();
    let gate = suites.values().find(|suite| suite["binary-name"] == "gate").unwrap();
    let cases = gate["testcases"].as_object().unwrap();
    let listed: BTreeSet<_> = cases.keys().cloned().collect();
    assert_eq!(listed, listed_by_the_binary());
    let ignored = cases.values().filter(|case| case["ignored"] == true).count();
    assert!(ignored > 0, "the long set is listed as ignored");

    let Some(ran) = nextest(&["run", "--no-fail-fast"]) else { return };
    let ran = ran.exits(0);
    let passed = listed.len() - ignored;
    assert!(
        ran.stderr.contains(&format!("{passed} tests run: {passed} passed")),
        "expected {passed} tests:\n{}",
        ran.stderr
    );
}

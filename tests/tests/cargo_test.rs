//! The gates under plain `cargo test`.

use npugate_tests::command::{Ran, TINY_LLAMA, clean, repository, run};

fn cargo_test(args: &[&str]) -> Ran {
    let mut command = clean(env!("CARGO"));
    command.current_dir(repository());
    command.args(["test", "--quiet"]).args(TINY_LLAMA).arg("--");
    run(command.args(args))
}

#[test]
fn a_filter_runs_the_block_gates_alone() {
    let ran = cargo_test(&["block"]).exits(0);
    // Four gates for each of four layers.
    assert!(ran.stdout.contains("test result: ok. 16 passed; 0 failed"), "{}", ran.stdout);
}

#[test]
fn several_filters_are_joined_and_skip_removes_tests() {
    let ran = cargo_test(&["block::layer00", "layers::finite", "--skip", "cosine"]).exits(0);
    assert!(ran.stdout.contains("test result: ok. 4 passed; 0 failed"), "{}", ran.stdout);
}

#[test]
fn an_exact_name_that_matches_nothing_is_an_error() {
    let ran = cargo_test(&["--exact", "block::layer99::cosine"]);
    assert_ne!(ran.code, 0);
    let _ = ran.says("block::layer99::cosine");
}

#[test]
fn an_exact_name_runs_exactly_one_test() {
    let ran = cargo_test(&["--exact", "block::layer01::cosine"]).exits(0);
    assert!(ran.stdout.contains("test result: ok. 1 passed; 0 failed"), "{}", ran.stdout);
}

#[test]
fn an_unknown_setting_is_refused_by_name() {
    let ran = cargo_test(&["--set", "atention=host"]);
    assert_ne!(ran.code, 0);
    let _ = ran.says("atention");
}

//! An adapter outside of this repository gates its own kernel with nothing but `npugate`:
//! discovery, a green run, and faults of its one kernel.

use npugate_tests::{command, workspace};
use std::process::Command;
use tempfile::TempDir;

/// `cargo npugate ARGS` in the outside workspace. All of these tests share one target
/// folder, so that the harness is built once.
fn npugate(workspace: &TempDir, args: &[&str]) -> Command {
    let mut command = command::clean(command::binary());
    command
        .current_dir(workspace.path())
        .env("CARGO_TARGET_DIR", command::target_dir().join("outside"))
        // Built once and kept: what a rebuild or a debugger needs would be most of the folder.
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .arg("npugate")
        .args(args)
        .args(["--cargo-profile", "dev", "--offline"]);
    command
}

#[test]
fn a_custom_kernel_is_found_built_and_gated() {
    let workspace = workspace::outside();
    let ran = command::run(&mut npugate(&workspace, &["-v"])).exits(0);
    assert!(ran.stderr.contains("kernel::axpy::1024"), "{}", ran.stderr);
    assert!(ran.stderr.contains("kernel::axpy::4096"), "{}", ran.stderr);
    let listed = command::run(&mut npugate(&workspace, &["list"])).exits(0);
    assert_eq!(
        listed.stdout,
        "axpy-npu  kernel::axpy::1024\naxpy-npu  kernel::axpy::4096\naxpy-npu  property::linear\n"
    );
}

#[test]
fn nan_in_the_output_fails_with_its_place() {
    let workspace = workspace::outside();
    let ran = command::run(npugate(&workspace, &[]).env("AXPY_FAULT", "nan"));
    let ran = ran.exits(100);
    let _ = ran.says("the device has 1 of 1024 values not finite, the first is NaN at row 7");
}

#[test]
fn an_unwritten_tail_fails_by_its_mismatches() {
    let workspace = workspace::outside();
    let ran = command::run(npugate(&workspace, &[]).env("AXPY_FAULT", "zero"));
    let _ = ran.exits(100).says("mismatches");
}

#[test]
fn an_adapters_own_check_is_run_filtered_and_reported_like_any_other() {
    let workspace = workspace::outside();
    let junit = workspace.path().join("junit.xml");
    let report = ["-v", "--junit", junit.to_str().unwrap()];
    for filter in [&["property::linear"][..], &["--phase", "own"], &["-E", "kind(property)"]] {
        let ran = command::run(&mut npugate(&workspace, &[filter, &report].concat())).exits(0);
        let ran = ran.says("property::linear");
        assert!(!ran.stderr.contains("kernel::axpy"), "{filter:?}: {}", ran.stderr);
        let junit = std::fs::read_to_string(&junit).unwrap();
        assert!(junit.contains(r#"name="property::linear""#), "{junit}");
        assert!(junit.contains("different"), "its figures are in the report: {junit}");
    }
}

#[test]
fn an_adapters_own_check_that_measured_nan_or_nothing_does_not_pass() {
    let workspace = workspace::outside();
    let linear = |fault| {
        let mut command = npugate(&workspace, &["property::linear"]);
        command::run(command.env("AXPY_CHECK", fault))
    };
    let _ = linear("nan").exits(100).says("different is NaN, the limit is 0");
    let _ = linear("nothing").exits(119).says("the check measured nothing that has a limit");
}

#[test]
fn cargo_test_runs_the_same_tests() {
    let workspace = workspace::outside();
    let mut test = command::clean(env!("CARGO"));
    test.current_dir(workspace.path())
        .env("CARGO_TARGET_DIR", command::target_dir().join("outside"))
        // Built once and kept: what a rebuild or a debugger needs would be most of the folder.
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .args(["test", "--offline", "--test", "gate"]);
    let ran = command::run(&mut test).exits(0);
    for test in ["kernel::axpy::1024", "kernel::axpy::4096", "property::linear"] {
        let line = ran.stdout.lines().find(|line| line.contains(test)).unwrap_or_default();
        assert!(line.ends_with("ok"), "{test}: {}", ran.stdout);
    }
}

#[test]
fn a_crash_fails_the_test_it_happened_in_and_the_rest_still_runs() {
    let workspace = workspace::outside();
    let ran = command::run(npugate(&workspace, &["-v"]).env("AXPY_FAULT", "abort")).exits(100);
    assert!(ran.stderr.contains("PASS"), "the rest still runs:\n{}", ran.stderr);
    let _ = ran.says("kernel::axpy::4096").says("the process died in this test: signal 6");
}

#[test]
fn a_filter_that_matches_nothing_is_an_error_of_its_own() {
    let workspace = workspace::outside();
    let ran = command::run(&mut npugate(&workspace, &["no_such_test"])).exits(4);
    let _ = ran.says("no_such_test");
}

#[test]
fn a_workspace_without_adapters_says_what_marks_one() {
    let folder = workspace::temporary();
    workspace::write(
        &folder.path().join("Cargo.toml"),
        b"[package]\nname = \"plain\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    std::fs::create_dir(folder.path().join("src")).unwrap();
    workspace::write(&folder.path().join("src/lib.rs"), b"");
    let ran = command::run(&mut npugate(&folder, &[])).exits(96);
    let _ = ran.says("[package.metadata.npugate]");
}

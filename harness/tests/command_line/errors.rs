//! One sentence on standard error, and an exit code that says what kind of error it is.

use crate::gate::{names, run, run_with};

crate::trials! {
    arguments_that_are_not_valid_end_with_2,
    an_exact_name_that_no_test_has_ends_with_4,
    several_exact_names_list_what_there_is,
    a_failed_test_ends_with_101_and_says_so_where_nextest_looks,
    a_panic_is_a_failure_and_the_rest_runs,
    missing_weights_fail_when_they_are_required,
    a_file_that_cannot_be_written_ends_with_110,
}

/// The message of a run that ends with a code and prints nothing else.
fn error(code: i32, args: &[&str]) -> String {
    let ran = run("sound", args);
    assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{args:?}: {}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    ran.err.strip_prefix("error: ").unwrap().trim_end().to_owned()
}

fn arguments_that_are_not_valid_end_with_2() {
    assert!(error(2, &["--bogus"]).starts_with("unknown flag `--bogus`"));
    assert!(error(2, &["--test-threads", "0"]).starts_with("`--test-threads` cannot be `0`"));
    assert!(error(2, &["--format", "xml"]).starts_with("`--format` cannot be `xml`"));
    assert!(error(2, &["--list", "--describe"]).contains("cannot be used together"));
    assert_eq!(
        error(2, &["--device", "abacus"]),
        "toy does not run on device `abacus`; it runs on host, other"
    );
    assert_eq!(
        error(2, &["--set", "speed=11"]),
        "this adapter has no setting `speed`; it has toolchain"
    );
    assert!(error(2, &["--generate", "Hello"]).starts_with("toy has kernels but no model"));
    let ran = run_with("sound", &[], &[("RUST_TEST_THREADS", "none")]);
    assert_eq!(ran.code, Some(2));
}

fn an_exact_name_that_no_test_has_ends_with_4() {
    for args in [&["--exact", "kernel::add"][..], &["--exact", "kernel::add", "--format", "json"]] {
        assert_eq!(error(4, args), "no test is named `kernel::add`: `--list` prints the names");
    }
    // The test exists, but this call would pass without running it.
    assert_eq!(
        error(4, &["--exact", "kernel::add::2x8", "--ignored"]),
        "test `kernel::add::2x8` exists, but the other arguments exclude it"
    );
    assert_eq!(run("sound", &["--list", "--exact", "kernel::add"]).code, Some(4));
}

fn several_exact_names_list_what_there_is() {
    let ran = run("sound", &["--list", "-q", "--exact", "kernel::add::2x8", "of another model"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), "kernel::add::2x8: test\n"));
}

fn a_failed_test_ends_with_101_and_says_so_where_nextest_looks() {
    let ran = run("faulty", &["--exact", "kernel::add::3x8", "--nocapture"]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.out.contains("test kernel::add::3x8 ... FAILED\n"), "{}", ran.out);
    let line = ran.err.lines().find(|line| line.starts_with("Error: ")).unwrap();
    assert!(line.starts_with("Error: kernel::add::3x8: "), "{line}");
    assert!(line.contains("NaN at row 1, column 1"), "{line}");
}

fn a_panic_is_a_failure_and_the_rest_runs() {
    let ran = run("faulty", &["--skip", "5x8"]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.err.contains("Error: kernel::add::4x8: "), "{}", ran.err);
    assert!(ran.err.contains("the device was opened"), "{}", ran.err);
    assert!(ran.out.contains("test result: FAILED. 2 passed; 2 failed; 0 ignored"), "{}", ran.out);
}

fn missing_weights_fail_when_they_are_required() {
    let name = "block::layer00::cosine";
    let ran = run("sealed", &[name]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("ignored, no weights on this machine"), "{}", ran.out);
    let ran = run("sealed", &[name, "--require-weights"]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.err.contains("Error: block::layer00::cosine: "), "{}", ran.err);
    let ran = run_with("sealed", &[name], &[("NPUGATE_REQUIRE_WEIGHTS", "1")]);
    assert_eq!(ran.code, Some(101));
    assert!(!names("sealed", &["--ignored", "--require-weights"]).contains(&name.to_owned()));
}

fn a_file_that_cannot_be_written_ends_with_110() {
    assert!(error(110, &["--logfile", "/no/such/folder/log"]).contains("/no/such/folder/log"));
    let ran = run_with("sound", &[], &[("NPUGATE_EVENTS", "/no/such/folder/events")]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(110), ""));
    assert!(
        ran.err.starts_with("error: /no/such/folder/events cannot be written: "),
        "{}",
        ran.err
    );
}

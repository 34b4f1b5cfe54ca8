//! What cargo and nextest expect of a test binary: what is listed is what runs, listing
//! opens nothing, libtest's flags are accepted, and a closed pipe is not an error. `errors`
//! tests that an unknown exact name is one.

use crate::gate::{command, names, run, run_with};
use npugate::schema::{CheckId, Description, Ignore, Listing};
use std::{collections::BTreeSet, io, process::Stdio};

crate::trials! {
    every_listed_name_runs_exactly_one_test,
    every_listed_name_is_listed_alone_whatever_the_adapter,
    the_terse_list_is_nothing_but_test_lines,
    the_pretty_list_ends_as_libtests_does,
    the_json_list_gives_reasons,
    listing_and_describing_touch_no_device_and_no_weights,
    every_flag_of_libtest_is_accepted,
    filters_that_match_nothing_are_not_an_error,
    a_closed_pipe_is_not_an_error,
    a_closed_pipe_does_not_make_a_run_pass,
    colours_are_for_terminals_unless_asked_for,
    a_binary_describes_itself,
    the_environment_chooses_device_and_settings,
    a_smoke_run_says_that_it_is_one,
    every_test_belongs_to_a_check_that_is_explained,
}

fn every_listed_name_runs_exactly_one_test() {
    let all = names("sound", &[]);
    assert!(all.len() >= 3, "{all:?}");
    for name in &all {
        // As nextest calls it.
        let ran = run("sound", &["--exact", name, "--nocapture"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains("running 1 test\n"), "{}", ran.out);
        assert!(ran.out.contains("test result: ok. 1 passed; 0 failed; 0 ignored"), "{}", ran.out);
        assert_eq!(names("sound", &["--exact", name]), [name.as_str()]);
    }
}

fn every_listed_name_is_listed_alone_whatever_the_adapter() {
    for toy in ["sound", "faulty", "sealed", "model"] {
        let (all, ignored) = (names(toy, &[]), names(toy, &["--ignored"]));
        assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len(), "{toy}: {all:?}");
        for name in &all {
            assert_eq!(names(toy, &["--exact", name]), [name.as_str()]);
        }
        // nextest lists twice: what is in both lists is off by default.
        assert!(ignored.iter().all(|name| all.contains(name)), "{toy}: {ignored:?}");
    }
}

fn the_terse_list_is_nothing_but_test_lines() {
    let all = names("sealed", &[]);
    let ignored = names("sealed", &["--ignored"]);
    assert!(!ignored.is_empty() && ignored.len() < all.len());
    assert!(ignored.iter().all(|name| all.contains(name)));
    assert_eq!(names("sealed", &["no such test"]), [""; 0]);
}

fn the_pretty_list_ends_as_libtests_does() {
    let ran = run("sound", &["--list"]);
    assert!(ran.out.ends_with(": test\n\n3 tests, 0 benchmarks\n"), "{}", ran.out);
    let ran = run("sound", &["--list", "4x160"]);
    assert!(ran.out.ends_with(": test\n\n1 test, 0 benchmarks\n"), "{}", ran.out);
    assert_eq!(run("sound", &["--list", "nothing"]).out, "0 tests, 0 benchmarks\n");
}

fn the_json_list_gives_reasons() {
    let ran = run("sealed", &["--list", "--format", "json"]);
    let listing: Listing = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(listing.model, "sealed");
    let names: Vec<_> = listing.tests.iter().map(|test| test.name.clone()).collect();
    assert_eq!(names, crate::gate::names("sealed", &[]));
    let reason =
        |name: &str| listing.tests.iter().find(|test| test.name == name).unwrap().ignored.clone();
    assert_eq!(reason("kernel::add::2x8"), None);
    assert!(matches!(reason("block::layer00::cosine"), Some(Ignore::NoWeights { .. })));
}

fn listing_and_describing_touch_no_device_and_no_weights() {
    for args in [&["--list"][..], &["--list", "--ignored"], &["--describe"], &["--help"]] {
        let ran = run("sealed", args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
    // The seal works: running touches the device.
    let ran = run("sealed", &["kernel"]);
    assert_eq!(ran.code, Some(101));
    assert!(ran.err.contains("the device was opened"), "{}", ran.err);
}

fn every_flag_of_libtest_is_accepted() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let log = log.path().to_str().unwrap();
    let lines: &[&[&str]] = &[
        &["--include-ignored"],
        &["--ignored"],
        &["--force-run-in-process"],
        &["--exclude-should-panic"],
        &["--test"],
        &["--bench"],
        &["--list"],
        &["--fail-fast"],
        &["--help"],
        &["-h"],
        &["--logfile", log],
        &["--no-capture"],
        &["--nocapture"],
        &["--test-threads", "1"],
        &["--test-threads=8"],
        &["--skip", "add"],
        &["--quiet"],
        &["-q"],
        &["--exact"],
        &["--color", "auto"],
        &["--format", "pretty"],
        &["--format", "terse"],
        &["--format", "json"],
        &["--show-output"],
        &["-Z", "unstable-options"],
        &["--report-time"],
        &["--ensure-time"],
        &["--shuffle"],
        &["--shuffle-seed", "42"],
    ];
    for args in lines {
        let ran = run("sound", args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

fn filters_that_match_nothing_are_not_an_error() {
    // cargo passes its filters to every binary.
    let ran = run("sound", &["no such test"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("running 0 tests\n"));
    assert!(ran.out.contains("3 filtered out"));
}

/// The exit code and standard error of a gate whose standard output is a closed pipe, as
/// for the later writes of `gate --list | head -1`.
fn without_a_reader(toy: &str, args: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = command(toy, args);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn a_closed_pipe_is_not_an_error() {
    for args in [&["--list"][..], &["--help"], &["--describe"], &[], &["--format", "json"]] {
        assert_eq!(without_a_reader("sound", args), (Some(0), String::new()), "{args:?}");
    }
}

fn a_closed_pipe_does_not_make_a_run_pass() {
    let (code, err) = without_a_reader("faulty", &["3x8"]);
    assert_eq!(code, Some(101));
    assert!(err.starts_with("Error: kernel::add::3x8: "), "{err}");
}

fn colours_are_for_terminals_unless_asked_for() {
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        run_with("sound", args, variables).out.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&[], &[("CARGO_TERM_COLOR", "always")]));
    assert!(!coloured(&["--color", "never"], &[("CARGO_TERM_COLOR", "always")]));
    assert!(!coloured(&["--list", "--color", "always"], &[]));
}

fn a_binary_describes_itself() {
    let ran = run("sound", &["--describe", "--toolchain", "2026-06"]);
    let description: Description = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(description.model, "toy");
    assert_eq!(description.device, "host+toolchain=2026-06");
    assert_eq!(description.configuration, "adds on the host");
}

fn the_environment_chooses_device_and_settings() {
    let variables = [("NPUGATE_DEVICE", "other"), ("NPUGATE_SETTINGS", "toolchain=x")];
    let ran = run_with("sound", &["--describe"], &variables);
    let description: Description = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(description.device, "other+toolchain=x");
}

fn a_smoke_run_says_that_it_is_one() {
    let (full, smoke) = (run("sound", &[]), run("sound", &["--smoke"]));
    assert_eq!((full.code, full.err.as_str()), (Some(0), ""));
    assert_eq!(smoke.code, Some(0));
    assert!(smoke.err.starts_with("smoke run: kernels ran on a few rows"), "{}", smoke.err);
    assert_eq!(names("sound", &["--smoke"]), names("sound", &[]));
}

fn every_test_belongs_to_a_check_that_is_explained() {
    // With prompts, so that the token gates are planned too.
    let fixtures = tempfile::tempdir().unwrap();
    let manifest = include_str!("../data/golden/manifest.json");
    let manifest = manifest.replacen("\"model\": \"toy\"", "\"model\": \"sealed\"", 1);
    std::fs::create_dir(fixtures.path().join("sealed")).unwrap();
    std::fs::write(fixtures.path().join("sealed/manifest.json"), manifest).unwrap();
    let fixtures = fixtures.path().to_str().unwrap();
    let all = names("sealed", &["--fixtures", fixtures]);
    let checks: BTreeSet<_> = all
        .iter()
        .map(|name| CheckId::of(name).unwrap_or_else(|| panic!("{name} belongs to no check")))
        .collect();
    assert_eq!(checks, CheckId::ALL.into_iter().collect(), "{all:?}");
}

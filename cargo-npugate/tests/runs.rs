//! Runs of gates that pass, fail, crash and misbehave.

mod support;

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use support::Scene;

#[test]
fn all_default_gates_of_all_default_adapters_run() {
    let scene = Scene::new();
    let run = scene.run("");
    run.expect(
        0,
        &[
            "     Running alpha on emu (fake NPU)",
            "      kernel alpha: 2 passed in ",
            "tightest kernel::gemm: cosine at 41 % of the allowed error",
            "       block alpha: 1 passed",
            "     Ignored alpha: 1 test (in the long set: run with --full)",
            "     Running beta-7b on emu",
            "     Summary 6 tests run in ",
            ": 6 passed, 1 ignored",
            "             beta-7b       1 ",
            "             alpha on emu: fake NPU",
            "     Pending 5 changes for alpha on emu: cargo npugate review",
        ],
    );
    run.expect_none(&["PASS", "offside", "warning:", "error:"]);
    assert_eq!(run.stdout, "", "only data goes to stdout");
}

#[test]
fn filters_phases_and_packages_narrow_a_run() {
    let scene = Scene::new();
    scene.run("kernel soft -v").expect(0, &["PASS [", "alpha kernel::softmax", "1 passed"]);
    scene.run("--skip kernel -p alpha").expect(0, &["Summary 3 tests"]);
    scene.run("-p beta-7b").expect(0, &["Running beta-7b", "Summary 1 test"]);
    scene.run("verify --full -p alpha").expect(0, &["tokens alpha: 2 passed"]);
    scene.run("--workspace gemm").expect(0, &["Running offside", "Summary 3 tests"]);
    scene.run("--exclude alpha").expect(0, &["Summary 1 test"]);
    // Each model gets only the names that it has, since a gate refuses unknown ones.
    let exact = scene.run("--exact kernel::gemm kernel::softmax");
    exact.expect(0, &["Summary 3 tests"]);
    let unknown = scene.run("--exact kernel::gemm kernel::gem");
    unknown.expect(4, &["error: no test is called `kernel::gem`; `cargo npugate list`"]);
}

#[test]
fn nothing_to_run_is_not_a_success() {
    let scene = Scene::new();
    let run = scene.run("gem2 --junit none.xml");
    run.expect(4, &["error: no test matches `gem2`; `cargo npugate list` lists all tests\n"]);
    assert!(!scene.path("none.xml").exists());
    scene.run("lst").expect(4, &["did you mean the command `cargo npugate list`?"]);
    scene
        .run("p01")
        .expect(4, &["Summary 0 tests", "error: no test ran: in the long set: run with --full"]);
    scene.run("-p gamma").expect(96, &["`gamma`; there are alpha, beta-7b, offside\n"]);
}

#[test]
fn failures_are_reported_at_once_and_again_at_the_end() {
    let scene = Scene::with_tests(
        "alpha kernel::gemm pass
         alpha kernel::softmax fail 0.98
         alpha block::layer00 invalid
         alpha tokens::p00 pass",
    );
    let run = scene.run("--set attention=host");
    let path = scene.path("").display().to_string();
    run.expect(100, &[
        "        FAIL [   0.010s] alpha kernel::softmax: cosine 0.98, the limit is 0.99\n",
        "      kernel alpha: 1 passed, 1 failed",
        "     INVALID [   0.010s] alpha block::layer00: cosine",
        "\n        FAIL [   0.010s] alpha kernel::softmax\n             cosine 0.98, the limit",
        "             metric  value    limit   used\n             cosine   0.98  >= 0.99  200 %\n",
        "             rerun: cargo npugate -p alpha --exact kernel::softmax --cargo-profile dev --set attention=host\n",
        "\n     INVALID [   0.010s] alpha block::layer00\n",
        "             no golden",
        "     Summary 4 tests run in ",
        ": 2 passed, 1 invalid, 1 failed",
    ]);
    run.expect_none(&[&path]);
    // The figures of a failed or invalid test never become a baseline.
    let pending = scene.read("fixtures/alpha/baseline/emu+attention=host.json.new");
    assert!(pending.contains("kernel::gemm") && pending.contains("tokens::p00"), "{pending}");
    assert!(!pending.contains("softmax") && !pending.contains("layer00"), "{pending}");
}

#[test]
fn the_exit_code_says_what_kind_of_trouble_there_is() {
    for (behaviour, code) in [("invalid", 119), ("skipped", 119), ("regressed", 120), ("fail", 100)]
    {
        let scene = Scene::with_tests(&format!("alpha a::b pass\nalpha a::c {behaviour}"));
        scene.run("").expect(code, &["Summary 2 tests"]);
    }
}

#[test]
fn a_crash_names_its_test_and_the_rest_still_run() {
    let scene = Scene::with_tests(
        "alpha kernel::a pass
         alpha kernel::b crash
         alpha kernel::c pass
         alpha kernel::d exit
         alpha kernel::e pass",
    );
    scene.run("kernel --junit out/junit.xml").expect(
        100,
        &[
            "       CRASH [",
            "alpha kernel::b: the process died in this test: signal 6 (SIGABRT); the last event was test_started kernel::b, ",
            "  Restarting alpha after signal 6 (SIGABRT): 3 tests left",
            "       CRASH [",
            "alpha kernel::d: the process died in this test: exit status 3",
            "      kernel alpha: 3 passed, 2 failed",
            "alpha kernel::b\n             the process died in this test: signal 6 (SIGABRT)",
            "             | about to abort in kernel::b\n             rerun: ",
            "     Summary 5 tests run in ",
            ": 3 passed, 2 failed",
        ],
    );
    let report = Report::deserialize_from_str(&scene.read("out/junit.xml")).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (5, 2, 0));
    let crashed = &report.test_suites[0].test_cases[1];
    let TestCaseStatus::NonSuccess { kind, message, .. } = &crashed.status else { panic!() };
    assert_eq!(*kind, NonSuccessKind::Failure);
    assert!(message.as_ref().unwrap().as_str().contains("SIGABRT"));
    let output = crashed.system_out.as_ref().unwrap().as_str();
    assert!(output.contains("about to abort in kernel::b"), "{output}");
}

#[test]
fn a_gate_that_fails_without_an_event_is_broken() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha !silent\nbeta a::b pass");
    scene.run("").expect(
        96,
        &[
            "error: the gate of alpha is broken: the process ended without an event: exit status 1",
            "     Running beta-7b",
            "     INVALID",
            "1 passed, 1 invalid",
        ],
    );
}

#[test]
fn a_gate_that_does_not_keep_to_the_protocol_is_never_a_success() {
    let scene = Scene::with_tests("alpha a::b garbage");
    scene.run("").expect(96, &["it wrote `this is not an event` among its events"]);
    let scene = Scene::with_tests("alpha a::b pass\nalpha !dies-at-end");
    scene.run("").expect(96, &["it died after its last test: signal 6 (SIGABRT)", "1 passed"]);
    let scene = Scene::with_tests("alpha a::b pass\nalpha !chatty");
    scene.run("").expect(
        104,
        &["error: the gate of alpha could not describe itself: it printed `hello from a driver`"],
    );
}

#[test]
fn arguments_that_a_gate_refuses_are_a_usage_error() {
    Scene::new().run("--device none").expect(
        2,
        &["error: the gate of alpha refused its arguments: alpha does not run on device `none`"],
    );
}

#[test]
fn no_capture_shows_what_the_gates_print() {
    let run = Scene::new().run("kernel --no-capture -p alpha");
    run.expect(0, &["2 passed"]);
    assert!(run.stdout.contains("test kernel::gemm ..."), "{run}");
}

#[test]
fn quiet_shows_only_problems_and_the_summary() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha a::c fail 0.5");
    let run = scene.run("-q");
    run.expect(100, &["        FAIL [", "rerun: cargo npugate", "     Summary 2 tests"]);
    run.expect_none(&["Running", "Finished", "Pending", "tightest"]);
}

#[test]
fn a_junit_report_that_cannot_be_written_is_an_error() {
    let scene = Scene::new();
    std::fs::write(scene.path("file"), "").unwrap();
    scene.run("kernel --junit file/junit.xml").expect(110, &["Summary", "cannot be written"]);
}

#[test]
fn a_workspace_without_an_adapter_says_what_marks_one() {
    let scene = Scene::new();
    std::fs::write(
        scene.path("Cargo.toml"),
        "[workspace]\nmembers = [\"plain\"]\n[workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n",
    )
    .unwrap();
    let run = scene.run("");
    run.expect(96, &["error: there is no adapter in the workspace", "[package.metadata.npugate]"]);
    std::fs::remove_file(scene.path("Cargo.toml")).unwrap();
    scene.run("--manifest-path Cargo.toml").expect(102, &["error: `cargo metadata` failed: "]);
}

#[test]
fn an_adapter_that_does_not_build_has_its_own_exit_code() {
    let scene = Scene::new();
    std::fs::write(scene.path("alpha/tests/gate.rs"), "fn main() { nonsense }").unwrap();
    scene
        .run("")
        .expect(101, &["cannot find value `nonsense`", "error: the adapters did not build"]);
}

#[test]
fn colours_follow_the_variable_of_cargo() {
    let scene = Scene::new().with("CARGO_TERM_COLOR", "always");
    scene.run("kernel").expect(0, &["\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m alpha"]);
    scene.run("kernel --color never").expect(0, &["     Running alpha"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_reports_what_it_found() {
    use std::{
        io::{BufRead, BufReader, Read},
        process::{Command, Stdio},
    };
    let scene = Scene::with_tests(
        "alpha a::b pass\nalpha c::d hang\nalpha c::e pass\nalpha c::f full\nbeta a::b pass",
    );
    let mut child = scene
        .command(["-v", "--junit", "junit.xml", "--results", "run.jsonl"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("PASS") {
        assert!(stderr.read_line(&mut printed).unwrap() > 0, "{printed}");
    }
    // As when a CI job is cancelled: only the command gets the signal.
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    stderr.read_to_string(&mut printed).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(123), "{printed}");
    assert!(printed.contains(" Interrupted 3 tests not run\n     Summary 1 test run"), "{printed}");
    assert!(printed.contains(": 1 passed, 1 ignored, 3 skipped\n"), "{printed}");
    assert!(printed.contains("error: interrupted: the baselines are unchanged"), "{printed}");
    for absent in ["Running beta-7b", "rerun:", "SKIP", "INVALID", "c::d"] {
        assert!(!printed.contains(absent), "{absent} is unexpected in:\n{printed}");
    }
    let report = Report::deserialize_from_str(&scene.read("junit.xml")).unwrap();
    assert_eq!((report.tests, report.failures, report.errors, report.skipped), (5, 0, 0, 4));
    assert!(scene.read("junit.xml").contains(r#"<skipped message="interrupted""#));
    // The messages are complete too, and merge to the same result.
    assert!(scene.read("run.jsonl").ends_with("}\n"));
    scene
        .run("merge run.jsonl")
        .expect(123, &[" Interrupted 3 tests not run\n", ": 1 passed, 1 ign"]);
    assert!(!scene.path("fixtures").exists());
}

#[test]
fn a_smoke_run_says_so_and_leaves_baselines_alone() {
    let scene = Scene::with_tests("alpha kernel::a smoke\nalpha kernel::b fail");
    let run = scene.run("kernel --smoke --junit smoke.xml");
    run.expect(
        100,
        &[
            "--exact kernel::b --cargo-profile dev --smoke",
            "Summary 2 tests run in ",
            "       Smoke kernels ran on few rows, and no baseline was compared or written",
        ],
    );
    run.expect_none(&["Pending"]);
    assert!(!scene.path("fixtures/alpha/baseline").exists());
    let report = Report::deserialize_from_str(&scene.read("smoke.xml")).unwrap();
    let effort =
        report.test_suites[0].properties.iter().find(|p| p.name.as_str() == "npugate.effort");
    assert_eq!(effort.unwrap().value.as_str(), "smoke");
}

#[test]
fn a_smoke_run_does_not_report_tests_as_gone() {
    let mut scene = Scene::with_tests("alpha kernel::a pass\nalpha kernel::b pass");
    scene.set("NPUGATE_UPDATE", "always");
    scene.run("").expect(0, &["Accepted 2 changes"]);
    let accepted = scene.read("fixtures/alpha/baseline/emu.json");
    scene.set("FAKE_GATE", "alpha kernel::a pass 0.995");
    scene.run("--smoke").expect(0, &["Summary 1 test", "Smoke"]);
    assert_eq!(scene.read("fixtures/alpha/baseline/emu.json"), accepted);
    // The same run without --smoke reports one as gone.
    scene.run("").expect_none(&["Smoke"]);
    assert_ne!(scene.read("fixtures/alpha/baseline/emu.json"), accepted);
}

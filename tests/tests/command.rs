//! `cargo npugate` on the tiny model: a green run, JUnit, and the answer to each kind of
//! bad input.

use npugate_tests::command::{clean, npugate, run};
use npugate_tests::workspace::{Fixtures, temporary, write};
use quick_junit::{Report, TestCaseStatus};

#[test]
fn the_tiny_model_passes_every_default_gate_and_says_so() {
    let ran = run(&mut npugate(&["-p", "tiny-llama"])).exits(0);
    for part in ["tiny-llama", "passed", "emu", "rounding rne"] {
        assert!(ran.stderr.contains(part), "no `{part}` in:\n{}", ran.stderr);
    }
}

#[test]
fn the_published_toolchain_is_one_flag_away_and_its_known_failure_is_waived() {
    let args = ["-p", "tiny-llama", "--full", "--toolchain", "npu2-2026-06"];
    let ran = run(&mut npugate(&args)).exits(0);
    let _ = ran.says("WAIVED").says("floor rounding").says("rounding npu2-2026-06");
}

#[test]
fn a_default_that_is_spelled_out_is_the_default_run() {
    let args = ["block", "-p", "tiny-llama", "--toolchain", "rne"];
    let ran = run(npugate(&args).env("NPUGATE_UPDATE", "new")).exits(0);
    assert!(!ran.stderr.contains("Pending"), "{}", ran.stderr);
}

#[test]
fn junit_reads_back_with_its_metrics_as_properties() {
    let folder = temporary();
    let path = folder.path().join("junit.xml");
    let path_text = path.display().to_string();
    let _ = run(&mut npugate(&["block", "-p", "tiny-llama", "--junit", &path_text])).exits(0);
    let report = Report::deserialize_from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let [suite] = report.test_suites.as_slice() else { panic!("one suite: {report:#?}") };
    assert_eq!(suite.name.as_str(), "tiny-llama");
    let run: Vec<_> = suite
        .test_cases
        .iter()
        .filter(|case| matches!(case.status, TestCaseStatus::Success { .. }))
        .collect();
    assert_eq!(run.len(), 16);
    let cosine = run.iter().find(|case| case.name.as_str() == "block::layer00::cosine").unwrap();
    let property = cosine
        .properties
        .iter()
        .find(|property| property.name.as_str() == "npugate.cosine")
        .unwrap_or_else(|| panic!("{:?}", cosine.properties));
    let value: f64 = property.value.as_str().parse().unwrap();
    assert!((0.99..=1.0).contains(&value), "{value}");
}

#[test]
fn a_corrupted_golden_is_invalid_and_nothing_is_written() {
    let fixtures = Fixtures::of("tiny-llama");
    let golden = fixtures.file("instruct_p00.layers.safetensors");
    let mut bytes = std::fs::read(&golden).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    write(&golden, &bytes);
    let before = fixtures.snapshot();
    let ran = run(npugate(&["-p", "tiny-llama"])
        .env("NPUGATE_FIXTURES", fixtures.root())
        .env("NPUGATE_UPDATE", "new"));
    let _ = ran.exits(119).says("instruct_p00.layers.safetensors").says("sha256");
    assert!(before == fixtures.snapshot(), "a file was written");
}

#[test]
fn a_missing_golden_is_invalid_with_the_command_that_records_it() {
    let fixtures = Fixtures::of("tiny-llama");
    std::fs::remove_file(fixtures.file("instruct_p01.safetensors")).unwrap();
    let ran =
        run(npugate(&["tokens", "-p", "tiny-llama"]).env("NPUGATE_FIXTURES", fixtures.root()));
    let _ = ran
        .exits(119)
        .says("instruct_p01.safetensors is missing")
        .says("cargo npugate record tiny-llama");
}

#[test]
fn a_golden_that_cannot_be_read_is_invalid() {
    let fixtures = Fixtures::of("tiny-llama");
    let golden = fixtures.file("instruct_p00.layers.safetensors");
    // A folder takes its place, which nobody can read, not even root.
    std::fs::remove_file(&golden).unwrap();
    std::fs::create_dir(&golden).unwrap();
    let ran = run(npugate(&["goldens", "layer00::cosine", "-p", "tiny-llama"])
        .env("NPUGATE_FIXTURES", fixtures.root()));
    let _ = ran.exits(119).says("instruct_p00.layers.safetensors").says("0 passed, 2 invalid");
}

#[test]
fn a_missing_manifest_is_invalid_too() {
    let fixtures = Fixtures::of("tiny-llama");
    std::fs::remove_file(fixtures.file("manifest.json")).unwrap();
    let ran =
        run(npugate(&["goldens", "-p", "tiny-llama"]).env("NPUGATE_FIXTURES", fixtures.root()));
    let _ = ran.exits(119).says("there are no goldens in").says("cargo npugate record tiny-llama");
}

#[test]
fn weights_with_another_digest_are_named_with_both_digests() {
    let folder = temporary();
    write(&folder.path().join("SmolLM2-135M-Instruct.Q4_1.gguf"), b"not a model");
    let ran = run(npugate(&["weights", "-p", "smollm2-135m", "--offline"])
        .env("NPUGATE_WEIGHTS_DIR", folder.path()));
    let _ = ran
        .exits(119)
        .says("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53")
        .says("cargo npugate fetch smollm2-135m");
}

#[test]
fn missing_weights_are_ignored_with_the_command_and_fail_when_required() {
    let folder = temporary();
    let with = |extra: &[&str]| {
        let mut args = vec!["tokens", "-p", "smollm2-135m", "--offline"];
        args.extend_from_slice(extra);
        run(npugate(&args).env("NPUGATE_WEIGHTS_DIR", folder.path()))
    };
    // Everything that the filter matches needs weights, so nothing ran.
    let _ = with(&[]).exits(4).says("cargo npugate fetch smollm2-135m");
    let required = with(&["--require-weights"]);
    assert!([100, 119].contains(&required.code), "{required:?}");
    let _ = required.says("cargo npugate fetch smollm2-135m");
}

#[test]
fn a_filter_that_matches_nothing_is_an_error() {
    let ran = run(&mut npugate(&["-p", "tiny-llama", "no_such_test"])).exits(4);
    let _ = ran.says("no_such_test");
}

#[test]
fn an_unknown_model_is_named_with_the_known_ones() {
    let ran = run(&mut npugate(&["-p", "no-such-model"])).exits(96);
    let _ = ran.says("no-such-model").says("tiny-llama");
}

#[test]
fn a_worse_figure_waits_for_review_and_can_be_accepted() {
    let fixtures = Fixtures::of("tiny-llama");
    let baseline = fixtures.file("baseline/emu.json");
    let accepted = std::fs::read_to_string(&baseline).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&accepted).unwrap();
    // As if the last accepted run had been far closer to the reference.
    json["tests"]["block::layer00::cosine"]["cosine"] = serde_json::json!(0.999_999_9);
    write(&baseline, serde_json::to_string_pretty(&json).unwrap().as_bytes());
    let run = |args: &[&str], update: &str| {
        run(npugate(args).env("NPUGATE_FIXTURES", fixtures.root()).env("NPUGATE_UPDATE", update))
    };
    let gate = ["-p", "tiny-llama", "block::layer00::cosine"];

    let ran = run(&gate, "no").exits(120);
    let _ = ran.says("is worse than the accepted").says("cargo npugate review");
    let pending = fixtures.file("baseline/emu.json.new");
    assert!(!pending.exists(), "NPUGATE_UPDATE=no writes nothing");

    let _ = run(&gate, "new").exits(120);
    assert!(pending.exists(), "the change is pending");
    let _ = run(&["review", "-p", "tiny-llama"], "new").exits(121);
    let _ = run(&["reject", "-p", "tiny-llama"], "new").exits(0);
    assert!(!pending.exists(), "rejected");
    let _ = run(&gate, "new").exits(120);
    let _ = run(&["accept", "-p", "tiny-llama"], "new").exits(0);
    assert!(!pending.exists(), "accepted");
    let _ = run(&gate, "new").exits(0);
    assert!(!pending.exists(), "an accepted figure is not pending again");
}

#[test]
fn nothing_is_written_on_ci() {
    let fixtures = Fixtures::of("tiny-llama");
    std::fs::remove_file(fixtures.file("baseline/emu.json")).unwrap();
    let before = fixtures.snapshot();
    let ran = run(npugate(&["block", "-p", "tiny-llama"])
        .env("NPUGATE_FIXTURES", fixtures.root())
        .env_remove("NPUGATE_UPDATE")
        .env("CI", "true"));
    let _ = ran.exits(0);
    assert!(before == fixtures.snapshot(), "a file was written");
}

#[test]
fn list_prints_every_test_and_opens_nothing() {
    let ran = run(&mut npugate(&["list", "-p", "tiny-llama"])).exits(0);
    assert!(ran.stdout.lines().count() > 40, "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.starts_with("tiny-llama  ")), "{}", ran.stdout);
}

#[test]
fn diagnosis_prints_a_row_for_each_layer() {
    let ran = run(&mut npugate(&["diagnosis", "-p", "tiny-llama"])).exits(0);
    let output = format!("{}{}", ran.stdout, ran.stderr);
    for layer in ["layer00", "layer01", "layer02", "layer03", "final"] {
        assert!(output.contains(layer), "no {layer} in:\n{output}");
    }
    assert!(output.contains("no cliff"), "{output}");
}

#[test]
fn run_generates_text_and_reports_its_speed() {
    let args = ["run", "-p", "tiny-llama", "--max-tokens", "8", "The largest ocean"];
    let ran = run(&mut npugate(&args)).exits(0);
    assert!(!ran.stdout.trim().is_empty());
    let _ = ran.says("tokens/s").says("first token");
}

#[test]
fn help_and_version_are_there_without_a_workspace() {
    let folder = temporary();
    for flag in ["--help", "--version"] {
        let mut command = clean(npugate_tests::command::binary());
        let ran = run(command.current_dir(folder.path()).args(["npugate", flag])).exits(0);
        assert!(ran.stdout.contains("npugate"), "{}", ran.stdout);
    }
}

#[test]
fn a_smoke_run_neither_reads_nor_writes_a_baseline() {
    let fixtures = Fixtures::of("tiny-llama");
    // A baseline that claims more than any run reaches.
    let path = fixtures.file("baseline/emu.json");
    let mut baseline: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for test in baseline["tests"].as_object_mut().unwrap().values_mut() {
        if let Some(sqnr) = test.get_mut("sqnr") {
            *sqnr = serde_json::json!(300.0);
        }
    }
    write(&path, baseline.to_string().as_bytes());
    let before = fixtures.snapshot();
    let with = |extra: &[&str]| {
        let mut args = vec!["kernel", "-p", "tiny-llama"];
        args.extend_from_slice(extra);
        run(npugate(&args).env("NPUGATE_FIXTURES", fixtures.root()).env("NPUGATE_UPDATE", "new"))
    };
    let _ = with(&["--smoke"]).exits(0).says("Smoke kernels ran on few rows");
    assert!(before == fixtures.snapshot(), "a file was written");
    let _ = with(&[]).exits(120);
}

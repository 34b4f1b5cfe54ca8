//! The token gate's verdict and top-5 sets are equal to those of an independent
//! computation: the recorder's `--check`, in Python.

use npugate_tests::{command, command::skip, workspace};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Whether there is a Python to compute with.
fn has_python() -> bool {
    let version = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

fn check(model: &str, evidence: &Path) -> command::Ran {
    let root = command::repository();
    let mut check = command::clean("python3");
    check
        .arg(root.join("fixtures/recorder/record.py"))
        .arg("--check")
        .arg(evidence)
        .arg("--fixtures")
        .arg(root.join("fixtures"))
        .args(["--model", model]);
    command::run(&mut check)
}

fn gate(model: &str, evidence: &Path) {
    let junit = evidence.join("junit.xml").display().to_string();
    let args = ["-p", model, "tokens::", "--full", "--offline", "--junit", &junit];
    let mut gate = command::npugate(&args);
    let _ = command::run(gate.env("NPUGATE_EVIDENCE", evidence)).exits(0);
}

#[test]
fn python_agrees_with_the_token_gate_on_every_prompt_of_tiny_llama() {
    if !has_python() {
        return skip("there is no python3 to compute the verdicts a second time");
    }
    let evidence = workspace::temporary();
    gate("tiny-llama", evidence.path());
    let report = std::fs::read_to_string(evidence.path().join("junit.xml")).unwrap();
    for name in ["base_p00.json", "instruct_p07.y.safetensors"] {
        let path = evidence.path().join(name);
        assert!(path.exists(), "{name}");
        let attachment = format!("[[ATTACHMENT|{}]]", path.display());
        assert!(report.contains(&attachment), "{attachment} is not in the report");
    }
    let ran = check("tiny-llama", evidence.path()).exits(0);
    assert!(ran.stdout.contains("16 passed, 0 failed"), "{}", ran.stdout);
}

#[test]
fn python_disagrees_when_the_evidence_is_changed() {
    if !has_python() {
        return skip("there is no python3 to compute the verdicts a second time");
    }
    let evidence = workspace::temporary();
    gate("tiny-llama", evidence.path());
    let path = evidence.path().join("instruct_p00.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["tokens"][3] = serde_json::json!(1);
    workspace::write(&path, json.to_string().as_bytes());
    let ran = check("tiny-llama", evidence.path()).exits(1);
    assert!(ran.stdout.contains("DIFFERS"), "{}", ran.stdout);
}

#[test]
fn python_agrees_with_the_token_gate_on_smollm2() {
    let weights =
        npugate::schema::weights_candidates("smollm2-135m", "SmolLM2-135M-Instruct.Q4_1.gguf");
    if !has_python() || !weights.iter().any(|path| path.exists()) {
        return skip("no python3, or no weights: run `cargo npugate fetch smollm2-135m`");
    }
    let evidence = workspace::temporary();
    gate("smollm2-135m", evidence.path());
    let ran = check("smollm2-135m", evidence.path()).exits(0);
    assert!(ran.stdout.contains("16 passed, 0 failed"), "{}", ran.stdout);
}

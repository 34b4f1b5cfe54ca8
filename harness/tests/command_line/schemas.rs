//! Validates what a gate writes and what this repository keeps against the committed JSON
//! Schemas, as a reader in another language would.

use crate::gate::run_with;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

crate::trials! {
    events_are_as_their_schema_says,
    listings_and_descriptions_are_as_their_schemas_say,
    what_this_repository_keeps_is_as_its_schemas_say,
    the_schemas_refuse_what_is_never_written,
}

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn json(path: &str) -> Value {
    let text = fs::read_to_string(repository(path));
    let text = text.unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn schema(name: &str) -> Validator {
    let schema = json(&format!("harness/schema/json/{name}.schema.json"));
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn expect_valid(schema: &Validator, value: &Value) {
    if let Err(error) = schema.validate(value) {
        panic!("{error}, at {} of {value}", error.instance_path());
    }
}

/// The events of a run of a toy, or of a generation.
fn events(toy: &str, args: &[&str]) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    run_with(toy, args, &[("NPUGATE_EVENTS", file.path().to_str().unwrap())]);
    let text = fs::read_to_string(file.path()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn events_are_as_their_schema_says() {
    let (events_schema, record) = (schema("events"), schema("record"));
    let runs = [
        events("sound", &[]),
        events("faulty", &["--skip", "5x8"]),
        events("sealed", &["--require-weights", "block::layer00", "goldens"]),
        events("model", &["--generate", "12a", "--max-tokens", "5"]),
    ];
    let mut kinds = Vec::new();
    for event in runs.iter().flatten() {
        expect_valid(&events_schema, event);
        kinds.push(event["event"].as_str().unwrap());
        if let Some(one) = event.get("record") {
            expect_valid(&record, one);
        }
    }
    for kind in ["run_started", "test_started", "test_finished", "run_finished", "generated"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

fn listings_and_descriptions_are_as_their_schemas_say() {
    for toy in ["sound", "sealed", "model"] {
        for (name, args) in
            [("listing", &["--list", "--format", "json"][..]), ("description", &["--describe"])]
        {
            let ran = run_with(toy, args, &[]);
            expect_valid(&schema(name), &serde_json::from_str(&ran.out).unwrap());
        }
    }
}

fn what_this_repository_keeps_is_as_its_schemas_say() {
    for model in ["smollm2-135m", "tiny-llama"] {
        for (name, file) in [
            ("baseline", "baseline/emu.json"),
            ("manifest", "manifest.json"),
            ("known-failures", "known-failures.json"),
        ] {
            expect_valid(&schema(name), &json(&format!("fixtures/{model}/{file}")));
        }
    }
}

fn the_schemas_refuse_what_is_never_written() {
    let baseline = json("fixtures/tiny-llama/baseline/emu.json");
    for (key, wrong) in [
        ("schema", json!("npugate-baseline/9")),
        ("tests", json!({"a::b": {"cosine": "high"}})),
        ("device", json!(null)),
    ] {
        let mut changed = baseline.clone();
        changed[key] = wrong;
        assert!(!schema("baseline").is_valid(&changed), "{key}");
    }
    let mut manifest = json("fixtures/tiny-llama/manifest.json");
    manifest["prompts"][0]["tokens"]["sha256"] = json!("cd607e");
    assert!(!schema("manifest").is_valid(&manifest));
    let events = schema("events");
    for wrong in [
        json!({"event": "test_started"}),
        json!({"event": "test_paused", "name": "a::b"}),
        json!({"event": "test_finished", "record": {"name": "a::b", "outcome": "passed"}}),
    ] {
        assert!(!events.is_valid(&wrong), "{wrong}");
    }
    assert!(events.is_valid(&json!({"event": "test_started", "name": "a::b"})));
}

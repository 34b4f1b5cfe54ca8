//! The JSON Schema of the file, kept beside the code for editors.

use super::file::{Day, RawFile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::{borrow::Cow, env, fs, path::Path};

/// The words for what a flaky test counts as.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", rename = "FlakyResult")]
#[expect(dead_code, reason = "its names alone are of use")]
pub enum FlakyResultSchema {
    /// A failure.
    Fail,
    /// A success.
    Pass,
}

impl JsonSchema for Day {
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date", "description": "A day, as 2027-01-31." })
    }
}

#[test]
fn the_schema_is_the_committed_one() {
    const UPDATE_VAR: &str = "NPUGATE_UPDATE_DOCS";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/npugate-config.schema.json");
    let schema = schemars::schema_for!(RawFile);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if env::var_os(UPDATE_VAR).is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let path = path.display();
    assert!(committed == text, "{path} is out of date: run this test with {UPDATE_VAR}=1");
}

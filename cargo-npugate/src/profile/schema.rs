//! The JSON Schema of the file, kept beside the code for editors.

use super::file::{Day, RawFile};
use npugate_documents::document;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// How to count a test that fails and then passes on a retry.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", rename = "FlakyResult")]
#[expect(dead_code, reason = "only its names are used")]
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
        json_schema!({ "type": "string", "format": "date", "description": "A day, such as 2027-01-31." })
    }
}

/// Removes null, which TOML does not have: optional keys are left out.
fn without_null(schema: &mut Schema) {
    let is_null = |value: &Value| value == "null" || value["type"] == "null";
    for key in ["type", "anyOf"] {
        let Some(Value::Array(options)) = schema.get_mut(key) else { continue };
        options.retain(|option| !is_null(option));
        let [only] = &mut options[..] else { continue };
        let only = only.take();
        match only {
            Value::Object(inner) => {
                schema.remove(key);
                schema.ensure_object().extend(inner);
            }
            only => drop(schema.insert(key.to_owned(), only)),
        }
    }
}

#[test]
fn the_schema_is_the_committed_one() {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null));
    let schema = settings.into_generator().into_root_schema_for::<RawFile>();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    document!("schemas/npugate-config.schema.json").check(&text);
}

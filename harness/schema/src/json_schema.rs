//! JSON Schemas of the formats, generated from the types that read them and kept in
//! `json/`. What other programs write is validated against them, and what they read is
//! described by them.

use crate::{
    Attribute, Baseline, Description, DeviceReport, Event, Examination, KnownFailures, Listing,
    Manifest, Message, Record,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// A format: the name of its schema and what generates it.
type Format = (&'static str, fn() -> Schema);

/// Every format.
const FORMATS: [Format; 10] = [
    ("baseline", schema_of::<Baseline>),
    ("description", schema_of::<Description>),
    ("device", schema_of::<DeviceReport>),
    ("doctor", schema_of::<Examination>),
    ("events", schema_of::<Event>),
    ("known-failures", schema_of::<KnownFailures>),
    ("listing", schema_of::<Listing>),
    ("manifest", schema_of::<Manifest>),
    ("messages", schema_of::<Message>),
    ("record", schema_of::<Record>),
];

/// The JSON Schema of every format, by name. Those of `events` and `messages` describe one
/// line.
pub fn json_schemas() -> Vec<(&'static str, Value)> {
    FORMATS.map(|(name, schema)| (name, schema().to_value())).to_vec()
}

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

/// A number in the format of [`number`], which has words for numbers that JSON lacks.
pub(crate) struct Number;

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| value.to_string());
        json_schema!({ "anyOf": [{ "type": "number" }, { "enum": words }] })
    }
}

impl JsonSchema for Attribute {
    fn schema_name() -> Cow<'static, str> {
        "Attribute".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One value: a word, or a size or an index.",
            "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0 }]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;
    use npugate_documents::document;

    /// Objects with their keys in order, whatever order the parser was built to keep.
    fn sorted(value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.into_iter().collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                entries.into_iter().map(|(key, value)| (key, sorted(value))).collect()
            }
            Value::Array(values) => values.into_iter().map(sorted).collect(),
            other => other,
        }
    }

    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        for (name, schema) in json_schemas() {
            let path = format!("json/{name}.schema.json");
            document!(path).check(&format!("{:#}\n", sorted(schema)));
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/json");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, FORMATS.len(), "a schema of no format is in {folder}");
    }

    #[test]
    fn a_format_with_a_version_is_of_that_version() {
        for (name, schema) in json_schemas() {
            let text = schema.to_string();
            let versioned = !["description", "record"].contains(&name);
            assert_eq!(text.contains(r#""const":"npugate-"#), versioned, "{name}");
        }
    }

    #[test]
    fn a_number_is_what_the_format_writes() {
        let mut text = Vec::new();
        let mut writer = serde_json::Serializer::new(&mut text);
        number::serialize(&f64::NEG_INFINITY, &mut writer).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "\"-inf\"");
        let schema = Number::json_schema(&mut SchemaGenerator::default()).to_value();
        assert_eq!(schema["anyOf"][1]["enum"], serde_json::json!(["NaN", "inf", "-inf"]));
    }
}

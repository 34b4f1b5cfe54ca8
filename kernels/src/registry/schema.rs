//! The JSON Schema of the registry's files, generated from the types that read them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{
    file::{SCHEMA, file_name},
    row::Entry,
};
use crate::{GemmOutput, Kernel, Toolchain, kernel::KernelSpec, op::with_kernel};

/// A GEMM's method in a file.
pub(crate) struct MethodSchema;

impl JsonSchema for MethodSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Method".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = GemmOutput::ALL.map(GemmOutput::name);
        json_schema!({ "enum": names })
    }
}

/// A mask in a file.
pub(crate) struct MaskSchema;

impl JsonSchema for MaskSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Mask".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "enum": ["causal", "full"] },
                {
                    "type": "object",
                    "properties": { "sliding-window": { "type": "integer", "minimum": 1 } },
                    "required": ["sliding-window"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

/// A toolchain in a file.
pub(crate) struct ToolchainSchema;

impl JsonSchema for ToolchainSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Toolchain".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Toolchain::ALL.map(|toolchain| toolchain.to_string());
        json_schema!({ "enum": names })
    }
}

/// The schema of every kernel's file.
fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let files: Vec<Value> = Kernel::ALL
        .into_iter()
        .map(|kernel| {
            let row = entry(kernel, &mut generator);
            json!({
                "type": "object",
                "title": file_name(kernel),
                "properties": {
                    "schema": { "const": SCHEMA },
                    "kernel": { "const": kernel.name() },
                    "rows": { "type": "array", "items": row },
                },
                "required": ["schema", "kernel", "rows"],
                "additionalProperties": false,
            })
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Measured configurations of one kernel",
        "oneOf": files,
        "$defs": generator.definitions(),
    })
}

fn entry(kernel: Kernel, generator: &mut SchemaGenerator) -> Schema {
    with_kernel!(kernel, Spec => generator
        .subschema_for::<Entry<<Spec as KernelSpec>::Shape, <Spec as KernelSpec>::Tiling>>())
}

#[test]
fn the_committed_schema_is_that_of_the_types() {
    let text = format!("{:#}\n", schema());
    npugate_documents::document!("registry/schema.json").check(&text);
}

#[test]
fn every_file_is_valid_by_the_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for (file, text) in super::published_files() {
        let value: Value = serde_json::from_str(text).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{file}: {error}");
        }
    }
}

#[test]
fn the_schema_refuses_what_the_types_refuse() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let text = include_str!("../../registry/gemm.json");
    for (from, to) in [
        ("\"m\": 64", "\"m\": -64"),
        ("\"drain\"", "\"drained\""),
        ("\"tile_m\"", "\"tile_q\""),
        ("\"kernel\": \"gemm\"", "\"kernel\": \"gemv\""),
        ("\"npu2\"", "\"npu9\""),
        ("\"gflops\"", "\"teraflops\""),
    ] {
        let value: Value = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        assert!(!validator.is_valid(&value), "{to}");
    }
}

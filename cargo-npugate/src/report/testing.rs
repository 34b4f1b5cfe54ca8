//! Plans and results for the tests of the reports.

use crate::gate::Gate;
use crate::runner::{ModelPlan, ModelResult};
use crate::workspace::{Adapter, ByDefault};
use cargo_metadata::PackageId;
use npugate_schema::{Description, ListedTest, Record};

/// A model on `emu` with these tests, of the package `MODEL-llama`.
pub fn plan(model: &str, tests: &[&str]) -> ModelPlan {
    let package = format!("{model}-llama");
    ModelPlan {
        gate: Gate {
            adapter: Adapter {
                id: PackageId { repr: package.clone() },
                package,
                version: "0.1.0".into(),
                manifest: "/w/model/Cargo.toml".into(),
                gate: "gate".into(),
                model: model.into(),
                goldens: None,
                by_default: ByDefault::Run,
            },
            executable: "/t/gate".into(),
        },
        description: Description::new(model, "emu"),
        tests: tests.iter().map(|name| ListedTest::new(*name).into()).collect(),
        gone: Vec::new(),
    }
}

/// The result of that model's run.
pub fn result(model: &str, records: Vec<Record>) -> ModelResult {
    let description = Description::new(model, "emu");
    ModelResult { records, ..ModelResult::new(description, format!("{model}-llama")) }
}

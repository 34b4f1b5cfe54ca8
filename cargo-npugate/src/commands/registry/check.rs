//! Whether every launch of every adapter's programs is recorded and tested.

use super::super::prepare;
use crate::config::Config;
use crate::error::Error;
use crate::report::table::{Align, Table};
use crate::selection::Selection;
use crate::shell::{self, Shell, Tone};
use crate::workspace::Workspace;
use npugate_kernels::{
    Op, Tiling,
    registry::{Registry, Row, row_name},
};
use npugate_schema::{ExitCode, LaunchDescription};
use std::collections::BTreeSet;

/// Checks every launch of every selected adapter.
pub(super) fn run(
    registry: &Registry,
    config: &Config,
    workspace: &Workspace,
    shell: &mut Shell,
) -> Result<ExitCode, Error> {
    let mut table = Table::new(["model", "program", "launch", "what is wrong"].map(left));
    let (mut checked, mut wrong) = (0, BTreeSet::new());
    for gate in prepare::gates(config, workspace, shell)? {
        let description = gate.describe(&config.device)?;
        let model = &description.model;
        let listing = gate.list(&Selection::default(), &config.device)?;
        let tests: BTreeSet<_> = listing.tests.iter().map(|test| test.name.as_str()).collect();
        if description.launches.is_empty() {
            shell.warn(format_args!(
                "{model} describes no launches: its kernels belong to no program, so none can be checked"
            ));
            continue;
        }
        for launch in &description.launches {
            for fault in faults(registry, &tests, launch) {
                let place = format!("{}[{}]", launch.program, launch.index);
                table.row(vec![model.clone(), place, launch.test.clone(), fault]);
                wrong.insert(format!("-p {}", gate.adapter.package));
            }
        }
        let notes: BTreeSet<_> =
            description.launches.iter().filter_map(|launch| launch.note.as_deref()).collect();
        for note in notes {
            shell.warn(format_args!("{model}: {note}"));
        }
        checked += description.launches.len();
        let launches = match description.launches.len() {
            1 => "1 launch".to_owned(),
            count => format!("{count} launches"),
        };
        shell.status(
            Tone::Good,
            "Checked",
            format_args!("{launches} of {model} on {}", description.device),
        );
    }
    if checked == 0 {
        return Err(Error::NoTests(
            "no adapter describes a launch, so there is nothing to check".to_owned(),
        ));
    }
    if wrong.is_empty() {
        shell.status(Tone::Good, "Complete", "every launch has a row and a test");
        return Ok(ExitCode::Ok);
    }
    shell::print_data(table)?;
    let packages = wrong.into_iter().collect::<Vec<_>>().join(" ");
    shell.error(format_args!(
        "some launches have no row or no test: `cargo npugate registry add {packages}` records those that pass"
    ));
    Ok(ExitCode::TestsFailed)
}

fn left(name: &str) -> (&str, Align) {
    (name, Align::Left)
}

/// What is wrong with a launch.
fn faults(registry: &Registry, tests: &BTreeSet<&str>, launch: &LaunchDescription) -> Vec<String> {
    let mut faults = Vec::new();
    if !tests.contains(launch.test.as_str()) {
        faults.push("no test of that name".to_owned());
    }
    let op: Op = match serde_json::from_value(launch.op.clone()) {
        Ok(op) => op,
        Err(error) => {
            faults.push(format!("not a kernel of the registry ({error})"));
            return faults;
        }
    };
    if rows_of(registry, &op).is_empty() {
        faults.push(format!("no row {}", row_name(&op)));
    }
    match launch.tiling.clone().map(serde_json::from_value::<Tiling>) {
        None => {}
        Some(Err(error)) => faults.push(format!("a tiling that cannot be read ({error})")),
        Some(Ok(tiling)) => {
            if let Err(illegal) = tiling.check(&op) {
                faults.push(illegal.to_string());
            }
        }
    }
    faults
}

/// The rows of an op: those with its shape and, for a GEMM, its method.
pub(super) fn rows_of<'a>(registry: &'a Registry, op: &Op) -> Vec<&'a Row> {
    let mut rows = registry.rows_of(op);
    rows.retain(|row| row.method == method(op));
    rows
}

/// How a GEMM narrows its output.
pub(super) fn method(op: &Op) -> Option<npugate_kernels::GemmOutput> {
    match op {
        Op::Gemm(gemm) => Some(gemm.output),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn launch(op: &Value, tiling: Option<Value>) -> LaunchDescription {
        LaunchDescription {
            program: "o_ffn".into(),
            index: 0,
            test: "kernel::gemm".into(),
            op: op.clone(),
            tiling,
            toolchain: "rne".into(),
            note: None,
        }
    }

    fn gemm(k: usize, n: usize) -> Value {
        json!({"Gemm": {"m": 256, "k": k, "n": n, "output": "drain"}})
    }

    fn found(launch: &LaunchDescription) -> Vec<String> {
        faults(Registry::published(), &BTreeSet::from(["kernel::gemm"]), launch)
    }

    #[test]
    fn a_launch_with_a_row_and_a_test_has_no_fault() {
        assert_eq!(found(&launch(&gemm(960, 960), None)), [""; 0]);
    }

    #[test]
    fn a_launch_without_a_row_a_test_or_a_kernel_is_reported() {
        let unrecorded = found(&launch(&gemm(968, 960), None));
        assert_eq!(unrecorded, ["no row gemm::256x968x960::drain"]);
        let untested =
            LaunchDescription { test: "kernel::x".into(), ..launch(&gemm(960, 960), None) };
        assert_eq!(found(&untested), ["no test of that name"]);
        assert!(found(&launch(&json!({"Fft": {}}), None))[0].starts_with("not a kernel"));
    }

    #[test]
    fn a_row_of_another_method_does_not_count_for_a_launch() {
        let direct = json!({"Gemm": {"m": 256, "k": 960, "n": 960, "output": "direct"}});
        assert_eq!(found(&launch(&direct, None)), ["no row gemm::256x960x960::direct"]);
        let f32 = json!({"Gemm": {"m": 256, "k": 960, "n": 960, "output": "f32-external"}});
        assert_eq!(found(&launch(&f32, None)), ["no row gemm::256x960x960::f32-external"]);
    }

    #[test]
    fn a_known_corrupt_tiling_is_reported_with_its_rule() {
        let tiling = json!({"gemm": {
            "tile_m": 32, "tile_k_l2": 160, "tile_k_l1": 32, "tile_n": 80, "herd": [8, 4]
        }});
        let faults = found(&launch(&gemm(960, 960), Some(tiling)));
        assert!(faults[0].contains("silent-corruption"), "{faults:?}");
    }
}

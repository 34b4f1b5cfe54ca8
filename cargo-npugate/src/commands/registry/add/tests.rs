use super::*;
use npugate_schema::{Description, Direction, Metric, Unit};
use serde_json::json;

fn launch(program: &str, toolchain: &str) -> LaunchDescription {
    LaunchDescription {
        program: program.into(),
        index: 0,
        test: "kernel::gemm::256x960x960::high".into(),
        op: json!({"Gemm": {"m": 256, "k": 960, "n": 960, "output": "drain"}}),
        tiling: None,
        toolchain: toolchain.into(),
        note: None,
    }
}

fn result(device: &str, toolchain: &str) -> ModelResult {
    let launches = ["o_ffn", "o_ffn", "mlp"].map(|program| launch(program, toolchain)).to_vec();
    ModelResult::new(Description { launches, ..Description::new("tiny", device) }, "tiny")
}

fn record(outcome: Outcome, mean_rel_l1: f64) -> Record {
    let metric = |name: &str, value, unit| Metric::new(name, value, unit, Direction::Lower);
    Record::new("kernel::gemm::256x960x960::high", outcome, "").measured(vec![
        metric("mean_rel_l1", mean_rel_l1, Unit::Ratio),
        metric("max_abs", 0.001_953_125, Unit::Absolute),
    ])
}

fn passed(mean_rel_l1: f64) -> Row {
    let record = record(Outcome::Passed, mean_rel_l1);
    row(&result("emu", "rne"), &record, "2026-11-30").unwrap()
}

#[test]
fn a_row_has_the_figures_the_users_and_the_day() {
    let row = passed(0.009_467_89);
    assert_eq!(row.name(), "gemm::256x960x960::drain");
    assert_eq!(row.used_by, ["tiny mlp", "tiny o_ffn"]);
    assert_eq!(row.figures.mean_rel_l1, Some(Figure(0.009_468)));
    assert_eq!(row.figures.max_abs, Some(Figure(0.001_953)));
    assert_eq!((row.measured.device, row.measured.date.as_str()), (Target::Emu, "2026-11-30"));
}

#[test]
fn only_a_pass_is_recorded() {
    let result = result("emu", "rne");
    let waived = Outcome::Waived { reason: "known".into() };
    for outcome in [Outcome::Failed, Outcome::Regressed, waived] {
        assert!(row(&result, &record(outcome, 0.01), "2026-11-30").is_err());
    }
}

#[test]
fn arithmetic_that_no_toolchain_has_is_not_recorded() {
    let record = record(Outcome::Passed, 0.01);
    let reason = row(&result("emu", "rne, exp2 exact"), &record, "2026-11-30").unwrap_err();
    assert!(reason.contains("rne, exp2 exact"), "{reason}");
    assert!(row(&result("xrt", "rne"), &record, "2026-11-30").is_err());
}

#[test]
fn a_row_whose_figures_are_measured_again_is_unchanged() {
    let published = Registry::published();
    let mut registry = Registry::default();
    assert!(insert(&mut registry, published, passed(0.0095)).unwrap());
    let mut tomorrow = passed(0.0095);
    tomorrow.measured.date = "2026-12-01".into();
    assert!(!insert(&mut registry, published, tomorrow).unwrap());
    assert_eq!(registry.rows()[0].measured.date, "2026-11-30");
    let mut other = passed(0.0096);
    other.used_by = vec!["large o_ffn".into()];
    assert!(insert(&mut registry, published, other).unwrap());
    assert_eq!(registry.rows().len(), 1);
    assert_eq!(registry.rows()[0].used_by, ["large o_ffn", "tiny mlp", "tiny o_ffn"]);
}

#[test]
fn the_largest_errors_of_tests_that_share_a_row_are_kept() {
    let mut measured = Vec::new();
    let of_other = Row { used_by: vec!["large o_ffn".into()], ..passed(0.0096) };
    for row in [passed(0.0095), of_other, passed(0.0094)] {
        take_in(&mut measured, row);
    }
    assert_eq!(measured.len(), 1);
    assert_eq!(measured[0].figures.mean_rel_l1, Some(Figure(0.0096)));
    assert!(measured[0].used_by.contains(&"large o_ffn".to_owned()));
}

//! The emulated NPU meets silicon's figures on the published inputs, and a fault in its arithmetic
//! does not.
//!
//! This is about the rows whose inputs are kept with the crate; `cargo npugate registry --fidelity`
//! draws the inputs of the others with numpy.

#![allow(clippy::unwrap_used)] // A test says no more than the error itself does.

mod support;

use half::bf16;
use npugate_kernels::{
    AttentionLayout, EmulatorOptions, Exp2, FlashAttention, Functions, Kernel, Mask, Op, Tensor,
    Toolchain,
    fidelity::{self, Band, Effort, FidelityError, Options, Standing},
    inputs::{Draw, draw},
    reference,
    registry::{Figure, Registry, Row},
};
use support::{launch, launch_with};

/// The rows that need no Python.
fn bundled() -> Vec<&'static Row> {
    let all = fidelity::rows(Registry::published(), Effort::Full);
    all.into_iter().filter(|row| fidelity::is_bundled(&row.op().unwrap())).collect()
}

fn without_python() -> Options {
    Options { python: "/no/such/python".into(), ..Options::default() }
}

#[test]
fn the_rows_whose_inputs_are_kept_meet_their_bands() {
    let rows = bundled();
    assert_eq!(rows.len(), 7, "four GEMMs and three RoPEs");
    let mut seen = Vec::new();
    let summary =
        fidelity::run(&rows, &without_python(), |row| seen.push(row.name.clone())).unwrap();
    assert_eq!(seen.len(), rows.len());
    assert_eq!(summary.within(), rows.len(), "{summary:#?}");
    assert_eq!(summary.failures().count(), 0);
    // The figures of an independent numpy model of the datapaths, on the same inputs.
    for (name, found) in [
        ("gemm::64x32x720::drain", 9.263e-3),
        ("gemm::64x720x32::drain", 9.010e-3),
        ("gemm::192x64x256::drain", 9.390e-3),
        ("rope::8_d64", 2.423e-3),
        ("rope::32_d64", 2.707e-3),
        ("rope::256_d64", 2.778e-3),
    ] {
        let row = summary.rows.iter().find(|row| row.name == name).unwrap();
        assert!((row.found.mean_rel_l1 / found - 1.0).abs() < 3e-4, "{name}: {:?}", row.found);
    }
}

#[test]
fn the_wrong_rounding_mode_misses_the_bands() {
    let options = Options { toolchain: Toolchain::Rne, ..without_python() };
    let rows: Vec<&Row> =
        bundled().into_iter().filter(|row| row.op().unwrap().kind() == Kernel::Rope).collect();
    let summary = fidelity::run(&rows, &options, |_| ()).unwrap();
    assert_eq!((summary.within(), summary.failures().count()), (0, 3), "{summary:#?}");
    assert!(summary.rows.iter().all(|row| row.standing == Standing::Miss));
}

#[test]
fn an_output_of_twice_the_size_misses_every_band() {
    for row in bundled() {
        let op = row.op().unwrap();
        let inputs = draw(&op, Draw::Registry { seed: 42 });
        let reference = reference::run(&op, &inputs).unwrap();
        let output = launch(Toolchain::Npu2_2026_06, op, &inputs);
        let doubled: Vec<bf16> = output.to_f32().iter().map(|&y| bf16::from_f32(2.0 * y)).collect();
        let doubled = Tensor::bf16(output.shape().to_vec(), doubled).unwrap();
        let band = Band::of(&op, row.figures.mean_rel_l1.unwrap());
        let found = fidelity::compare(&doubled, &reference).unwrap();
        assert!(!band.holds(&found), "{}: {found:?}", row.name());
        // A cosine would not have noticed.
        assert!(found.correlation > 0.999, "{found:?}");
    }
}

#[test]
fn an_exact_exp2_misses_the_band_of_attention() {
    let op = Op::FlashAttention(FlashAttention {
        tokens: 512,
        heads: 2,
        kv_heads: 2,
        head_dim: 64,
        mask: Mask::Full,
        layout: AttentionLayout::HeadsFirst,
    });
    let inputs = draw(&op, Draw::Registry { seed: 42 });
    let reference = reference::run(&op, &inputs).unwrap();
    let found = |exp2| {
        let functions = Functions { exp2, ..Functions::default() };
        let options = EmulatorOptions { functions, ..EmulatorOptions::default() };
        let output = launch_with(options, op, Toolchain::Npu2_2026_06.rounding(&op), &inputs);
        fidelity::compare(&output, &reference).unwrap()
    };
    // 4.4e-2 is published for this shape. The inputs are other draws of the same distribution.
    let band = Band::of(&op, Figure(0.044));
    assert!(band.holds(&found(Exp2::Hardware)), "{:?}", found(Exp2::Hardware));
    assert!(!band.holds(&found(Exp2::Exact)), "{:?}", found(Exp2::Exact));
}

#[test]
fn every_published_row_can_be_compared_and_a_quick_run_has_every_kernel() {
    let registry = Registry::published();
    let full = fidelity::rows(registry, Effort::Full);
    assert_eq!(full.len(), 211);
    let quick = fidelity::rows(registry, Effort::Quick);
    assert!((60..120).contains(&quick.len()), "{}", quick.len());
    for row in full {
        let kernel = row.op().unwrap().kind();
        assert!(quick.iter().any(|row| row.op().unwrap().kind() == kernel), "{kernel}");
    }
}

#[test]
fn no_rows_is_not_a_pass() {
    let error = fidelity::run(&[], &without_python(), |_| ()).unwrap_err();
    assert!(matches!(error, FidelityError::NoRows), "{error}");
}

#[test]
fn a_missing_python_says_what_to_install() {
    let row = Registry::published().find("add::245760").unwrap();
    let error = fidelity::run(&[row], &without_python(), |_| ()).unwrap_err();
    assert!(matches!(error, FidelityError::NoPython { .. }), "{error}");
    assert!(error.to_string().contains("install Python 3 and numpy"), "{error}");
}

#[cfg(unix)]
mod python {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    /// What a stand-in for Python makes of a row.
    fn error(script: &str) -> FidelityError {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        fs::write(&python, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        let options = Options { python: python.into(), ..Options::default() };
        let row = Registry::published().find("add::245760").unwrap();
        fidelity::run(&[row], &options, |_| ()).unwrap_err()
    }

    #[test]
    fn without_numpy_says_so() {
        let error = error("exit 3");
        assert!(matches!(error, FidelityError::NoNumpy { .. }), "{error}");
        assert!(error.to_string().contains("-m pip install numpy"), "{error}");
    }

    #[test]
    fn that_ends_early_is_an_error() {
        let error = error("printf 12345678; exit 1");
        assert!(matches!(error, FidelityError::CutShort { .. }), "{error}");
        assert!(error.to_string().contains("add::245760"), "{error}");
    }

    #[test]
    fn that_draws_other_values_is_an_error() {
        let error = error("cat /dev/zero");
        assert!(matches!(error, FidelityError::Digest { operand: "a", .. }), "{error}");
    }
}

/// The whole report is written by a run with numpy (`cargo npugate registry --fidelity --write`).
/// What can be known here is that it has every row, and the figures of this code.
#[test]
fn the_committed_report_is_of_these_rows_and_this_arithmetic() {
    let report = include_str!("../registry/FIDELITY.md");
    let lines: Vec<&str> = report.lines().collect();
    for row in fidelity::rows(Registry::published(), Effort::Full) {
        let start = format!("| {} | {} |", row.name(), row.figures.mean_rel_l1.unwrap());
        let found = lines.iter().filter(|line| line.starts_with(&start)).count();
        assert_eq!(found, 1, "{start} is not in FIDELITY.md");
    }
    let summary = fidelity::run(&bundled(), &without_python(), |_| ()).unwrap();
    let fresh = fidelity::document(&summary, "2000-01-01");
    let rows = fresh.lines().filter(|line| line.contains("::"));
    for line in rows.clone() {
        assert!(lines.contains(&line), "FIDELITY.md is out of date: {line}");
    }
    assert_eq!(rows.count(), summary.rows.len());
}

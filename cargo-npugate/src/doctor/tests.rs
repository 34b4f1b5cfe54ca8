//! Whole machines, and what the checks find on each. The faults are those of public
//! issues, which the checks name as their sources.

mod driver;
mod libraries;
mod limits;
mod output;
mod state;

use super::check::CHECKS;
use super::tree::Tree;
use super::{Machine, ModelBuffers, describe, examine};
use npugate_schema::{Examined, Health};
use std::collections::BTreeSet;

/// What one check finds on a machine.
fn check(tree: &Tree, name: &str) -> Examined {
    check_with(tree, name, Vec::new())
}

/// The same in a workspace with these models.
fn check_with(tree: &Tree, name: &str, models: Vec<ModelBuffers>) -> Examined {
    let checks = examine(&Machine::look(tree.system(), models)).checks;
    checks.into_iter().find(|examined| examined.check == name).unwrap()
}

/// Asserts what a check finds on a machine, with parts of its finding and its fix.
#[track_caller]
fn expect(tree: &Tree, name: &str, health: Health, finding: &str, fix: &str) {
    let examined = check(tree, name);
    assert_eq!(examined.health, health, "{examined:#?}");
    assert!(examined.finding.contains(finding), "{examined:#?}");
    assert!(examined.fix.as_deref().unwrap_or_default().contains(fix), "{examined:#?}");
    let bad = matches!(health, Health::Warning | Health::Problem | Health::Unknown);
    assert_eq!(examined.fix.is_some(), bad, "{examined:#?}");
}

/// The names of the checks with this health.
fn names(tree: &Tree, health: Health) -> Vec<String> {
    let checks = examine(&Machine::look(tree.system(), Vec::new())).checks;
    let alike = checks.into_iter().filter(|examined| examined.health == health);
    alike.map(|examined| examined.check).collect()
}

#[test]
fn there_are_fourteen_checks_each_with_a_name_and_sources_of_its_own() {
    let names: BTreeSet<_> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), 14);
    assert!(CHECKS.iter().all(|check| !check.sources.is_empty() && !check.title.is_empty()));
}

#[test]
fn a_machine_with_nothing_has_one_problem_with_its_fix() {
    let tree = Tree::new();
    assert_eq!(names(&tree, Health::Problem), ["pci"]);
    assert_eq!(names(&tree, Health::Warning), [""; 0]);
    expect(&tree, "pci", Health::Problem, "no PCI bus", "--device emu");
    expect(&tree, "memlock", Health::NotApplicable, "there is no NPU (see pci)", "");
    expect(&tree, "xrt", Health::NotApplicable, "there is no XRT, and no NPU", "");
    assert_eq!(describe(&Machine::look(tree.system(), Vec::new())).npu, None);
}

#[test]
fn a_healthy_strix_halo_has_no_fault() {
    let tree = Tree::strix_halo();
    let checks = examine(&Machine::look(tree.system(), Vec::new())).checks;
    let faults: Vec<_> = checks.iter().filter(|one| one.health != Health::Ok).collect();
    assert_eq!(faults, Vec::<&Examined>::new());
}

#[test]
fn the_device_of_a_healthy_strix_halo_is_described_completely() {
    let tree = Tree::strix_halo();
    let npu = describe(&Machine::look(tree.system(), Vec::new())).npu.unwrap();
    assert_eq!(npu.name.as_deref(), Some("NPU Strix Halo"));
    assert_eq!(
        (npu.generation.as_deref(), npu.architecture.as_deref()),
        (Some("npu2"), Some("aie2p"))
    );
    assert_eq!((npu.columns, npu.contexts), (Some(8), Some(16)));
    assert_eq!(
        (npu.firmware.as_deref(), npu.driver.as_deref()),
        (Some("1.0.0.166"), Some("amdxdna"))
    );
    assert_eq!(
        (npu.driver_interface.as_deref(), npu.xrt.as_deref()),
        (Some("0.7"), Some("2.25.0"))
    );
    assert_eq!((npu.power_mode.as_deref(), npu.holder), (Some("turbo"), None));
    assert_eq!((npu.driver_version, npu.kernel.as_deref()), (None, Some("7.0.4-amd64")));
}

#[test]
fn an_npu_without_a_driver_is_described_with_what_the_bus_shows() {
    let bare = Tree::strix_halo()
        .without("/sys/bus/pci/devices/0000:c5:00.1/driver")
        .without("/sys/bus/pci/devices/0000:c5:00.1/vbnv")
        .without("/dev/accel");
    let npu = describe(&Machine::look(bare.system(), Vec::new())).npu.unwrap();
    assert_eq!((npu.name.as_deref(), npu.columns), (Some("NPU Strix Halo"), Some(8)));
    assert_eq!((npu.driver, npu.node, npu.power_mode), (None, None, None));
}

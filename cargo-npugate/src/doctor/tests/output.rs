//! The printed text.

use super::*;
use crate::doctor::{Detail, device_text, summary, text};

fn plain(tree: &Tree, detail: Detail) -> String {
    let examination = examine(&Machine::look(tree.system(), Vec::new()));
    anstream::adapter::strip_str(&text(&examination, detail, Some(80))).to_string()
}

#[test]
fn checks_that_do_not_apply_for_one_reason_share_a_block() {
    let text = plain(&Tree::new(), Detail::OfFaults);
    let line = "         n/a module, node, iommu, memlock, firmware, versions, elf: there is no\n               NPU (see pci)\n";
    assert!(text.contains(line), "{text}");
    assert!(text.starts_with("     problem pci: there is no PCI bus, and so no NPU\n"), "{text}");
}

#[test]
fn what_is_well_takes_a_line_and_no_line_is_too_wide() {
    let text = plain(&Tree::strix_halo(), Detail::OfFaults);
    assert!(
        text.contains("\n          ok module: amdxdna of kernel 7.0.4-amd64 has the NPU\n"),
        "{text}"
    );
    assert!(!text.contains("seen:") && !text.contains("known from:"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn all_detail_has_evidence_and_sources_of_what_is_well() {
    let text = plain(&Tree::strix_halo(), Detail::All);
    assert!(text.contains("             seen: 0000:c5:00.1: 1022:17f0 revision 11\n"), "{text}");
    assert_eq!(text.matches("known from: ").count(), 14);
}

#[test]
fn the_summary_says_where_to_begin() {
    let summary = |tree: &Tree| summary(&examine(&Machine::look(tree.system(), Vec::new())));
    assert_eq!(summary(&Tree::strix_halo()), "14 checks: 14 ok");
    let two = Tree::strix_halo().without("/usr/lib").file("/dev/accel/accel0", "errno 13\n");
    let text = summary(&two);
    assert!(text.starts_with("14 checks: 2 problems, "), "{text}");
    assert!(text.ends_with("; begin with node, since the others may follow from it"), "{text}");
}

#[test]
fn a_device_is_a_line_for_each_fact() {
    let npu = |tree: &Tree| describe(&Machine::look(tree.system(), Vec::new())).npu.unwrap();
    let whole = device_text(&npu(&Tree::strix_halo()));
    assert_eq!(whole.lines().count(), 13);
    assert!(!whole.contains("unknown"), "{whole}");
    assert!(whole.contains("driver        amdxdna, interface 0.7\n"), "{whole}");
    let silent = device_text(&npu(&Tree::strix_halo().file("/dev/accel/accel0", "")));
    assert!(
        silent.contains("power mode    unknown: run `xrt-smi examine` to see it\n"),
        "{silent}"
    );
}

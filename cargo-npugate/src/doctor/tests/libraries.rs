//! XRT, the driver's interface and the firmware.

use super::*;
use crate::doctor::tree::{ADDRESS, LIB, shim};
use npugate_xrt::XrtVersion;

const NODE: &str = "/dev/accel/accel0";
const FIRMWARE: &str = "/lib/firmware/amdnpu/17f0_11";

fn logged(line: &str) -> Tree {
    let folder = format!("/sys/bus/pci/devices/{ADDRESS}");
    Tree::strix_halo()
        .without(&format!("{folder}/driver"))
        .without(&format!("{folder}/fw_version"))
        .file("/dev/kmsg", &format!("3,9,9,-;amdxdna 0000:c5:00.1: [drm] *ERROR* {line}\n"))
}

#[test]
fn a_driver_without_preemption_does_not_run_elfs() {
    let with = |interface: &str| Tree::strix_halo().file(NODE, &format!("interface {interface}\n"));
    expect(&with("0.6"), "elf", Health::Ok, "0.6 has preemption", "");
    expect(&with("0.5"), "elf", Health::Problem, "no preemption (since 0.6)", "xclbins");
    expect(&with("0.0"), "elf", Health::Problem, "error 95", "newer kernel");
    // Drivers from outside of the tree reported 1.0 in 2024 and 2025.
    expect(&with("1.0"), "elf", Health::Unknown, "cannot tell", "error 95");
}

#[test]
fn a_driver_of_the_kernels_tree_that_cannot_be_queried_is_judged_by_the_kernel() {
    let silent =
        |kernel: &str| Tree::strix_halo().file(NODE, "").file("/proc/sys/kernel/osrelease", kernel);
    expect(&silent("6.14.2\n"), "elf", Health::Problem, "6.14.2 has no preemption", "newer kernel");
    expect(&silent("6.14.2\n"), "versions", Health::Warning, "older than XRT", "newer kernel");
    expect(&silent("7.0.4\n"), "elf", Health::Unknown, "cannot tell", "");
    let dkms = silent("6.14.2\n").file("/sys/module/amdxdna/version", "2.25.0\n");
    expect(&dkms, "elf", Health::Unknown, "cannot tell", "");
    expect(&dkms, "versions", Health::Ok, "from one release", "");
}

#[test]
fn xrt_and_the_driver_must_know_the_same_queries() {
    let old = Tree::strix_halo().file(NODE, "interface 0.0\n");
    expect(&old, "versions", Health::Warning, "GET_ARRAY", "newer kernel");
    let without_xrt = Tree::strix_halo().without(&format!("{LIB}/libxrt_coreutil.so.2"));
    expect(&without_xrt, "versions", Health::NotApplicable, "see xrt", "");
}

#[test]
fn an_xrt_that_is_too_old_is_refused() {
    let with = |version: &str| {
        let core = format!("libxrt_coreutil.so.{version}");
        let driver = format!("libxrt_driver_xdna.so.{version}");
        Tree::strix_halo()
            .link(&format!("{LIB}/libxrt_coreutil.so.2"), &core)
            .link(&format!("{LIB}/libxrt_driver_xdna.so.2"), &driver)
    };
    expect(&with("2.19.0"), "versions", Health::Problem, "XRT 2.19.0 is too old", "setup xrt");
    expect(&with("2.20.0"), "versions", Health::Ok, "XRT 2.20.0", "");
    let mixed = with("2.25.0")
        .link(&format!("{LIB}/libxrt_driver_xdna.so.2"), "libxrt_driver_xdna.so.2.23.0");
    expect(
        &mixed,
        "versions",
        Health::Problem,
        "of 2.23.0: both must be from one release",
        "libxrt-npu2",
    );
}

#[test]
fn xrt_without_its_library_for_npus_finds_no_device() {
    let driver = format!("{LIB}/libxrt_driver_xdna.so.2");
    let bare = Tree::strix_halo().without(&driver);
    expect(&bare, "xrt", Health::Problem, "finds 0 devices", "libxrt-npu2");
    let elsewhere =
        Tree::strix_halo().without(&driver).file("/usr/local/lib/libxrt_driver_xdna.so.2", "");
    expect(&elsewhere, "xrt", Health::Problem, "in /usr/local/lib", "from one source");
    let none = Tree::strix_halo().without("/usr/lib");
    expect(&none, "xrt", Health::Problem, "not installed", "libxrt2 libxrt-npu2 libxrt-dev");
}

#[test]
fn the_fix_for_a_missing_or_mismatched_shim_is_to_build_it() {
    let cache = "/home/me/.cache/npugate";
    let missing = Tree::strix_halo().without(cache);
    expect(&missing, "xrt", Health::Problem, "shim for it is not built", "cargo npugate setup xrt");
    let old = Tree::strix_halo().without(cache).file(&shim(XrtVersion::new(2, 23, 0)), "");
    expect(&old, "xrt", Health::Problem, "built for another version than XRT 2.25.0", "again");
    let foreign = Tree::strix_halo()
        .without(cache)
        .file(&format!("{cache}/xrt-2.25-00ff00ff/libnpugate_xrt.so.1"), "");
    expect(&foreign, "xrt", Health::Problem, "shim for it is not built", "setup xrt");
    let lost = Tree::strix_halo().variable("NPUGATE_XRT_SHIM", "/home/me/gone.so");
    expect(&lost, "xrt", Health::Problem, "names /home/me/gone.so", "unset it");
}

#[test]
fn firmware_that_is_missing_is_named_by_its_folder() {
    let tree =
        logged("failed to request_firmware amdnpu/17f0_11/npu.sbin, ret -2").without(FIRMWARE);
    expect(&tree, "firmware", Health::Problem, FIRMWARE, "linux-firmware");
    assert_eq!(check(&tree, "firmware").evidence.len(), 1);
}

#[test]
fn firmware_that_the_driver_refuses_is_distinguished_from_firmware_that_does_not_start() {
    let protocol = logged("aie2_check_protocol: Incompatible firmware protocol major 7 minor 3");
    expect(&protocol, "firmware", Health::Problem, "does not support", "so that they match");
    let dead = logged("aie2_hw_start: firmware is not alive");
    expect(&dead, "firmware", Health::Problem, "did not start with it", "reboot");
    let silent = logged("aie2_init: something else");
    expect(
        &silent,
        "firmware",
        Health::Unknown,
        "whether it is loaded is unknown",
        "xrt-smi examine",
    );
}

#[test]
fn a_refusal_is_forgotten_after_a_later_load_succeeds() {
    let log = "3,9,9,-;amdxdna 0000:c5:00.1: Direct firmware load for amdnpu/17f0_11/npu_7.sbin failed with error -2\n";
    let tree = Tree::strix_halo().file("/dev/kmsg", log);
    expect(&tree, "firmware", Health::Ok, "firmware 1.0.0.166 is loaded", "");
}

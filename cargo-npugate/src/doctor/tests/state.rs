//! The state of the NPU: stuck, or held.

use super::*;
use npugate_schema::DEVICE_LOCK;
use std::{fs, os::unix::fs::MetadataExt};

/// A machine on which a process holds the lock of a file.
fn held(path: &str) -> Tree {
    let tree = Tree::strix_halo().file(path, "").file("/proc/4711/cmdline", "/usr/bin/flm\0run\0");
    let inode = fs::metadata(tree.system().path(path)).unwrap().ino();
    tree.file("/proc/locks", &format!("1: FLOCK  ADVISORY  WRITE 4711 fe:00:{inode} 0 EOF\n"))
}

#[test]
fn a_lock_that_is_held_names_its_holder() {
    let tree = held(DEVICE_LOCK);
    let finding = "pid 4711, `flm run` holds /tmp/mlir-air-npu.lock";
    expect(&tree, "lock", Health::Warning, finding, "--lock-timeout");
    let npu = describe(&Machine::look(tree.system(), Vec::new())).npu.unwrap();
    assert_eq!(npu.holder.unwrap().pid, Some(4711));
}

#[test]
fn the_lock_is_the_one_that_the_environment_names() {
    let tree = held("/run/npu.lock");
    expect(&tree, "lock", Health::Ok, "nobody holds /tmp/mlir-air-npu.lock", "");
    let named = tree.variable("NPUGATE_LOCK", "/run/npu.lock");
    expect(&named, "lock", Health::Warning, "holds /run/npu.lock", "");
}

#[test]
fn the_locks_of_others_count_as_use() {
    for path in ["/tmp/npu.lock", "/tmp/mlir-aie-npu-npu2.3.lock"] {
        let tree = held(path);
        expect(&tree, "lock", Health::Warning, "by other locks", "until a power cycle");
        assert_eq!(check(&tree, "lock").evidence, [format!("pid 4711, `flm run` holds {path}")]);
    }
}

#[test]
fn a_table_of_locks_that_is_missing_leaves_the_holder_unknown() {
    let tree = Tree::strix_halo().file(DEVICE_LOCK, "").without("/proc/locks");
    expect(&tree, "lock", Health::Unknown, "cannot read", "lslocks");
}

#[test]
fn an_npu_that_does_not_respond_is_found_in_the_log() {
    let log = "3,9,9,-;amdxdna 0000:c5:00.1: [drm] *ERROR* aie2_send_mgmt_msg_wait: command opcode 0x4 failed, ret -62\n";
    let silent = Tree::strix_halo().file("/dev/kmsg", log);
    expect(
        &silent,
        "wedged",
        Health::Warning,
        "failed to respond to the driver",
        "--smoke --device xrt",
    );
    // Another device's failure does not count.
    let other = Tree::strix_halo().file("/dev/kmsg", "3,9,9,-;amdgpu: failed, ret -62\n");
    expect(&other, "wedged", Health::Ok, "no failure", "");
}

#[test]
fn an_npu_that_does_not_wake_is_a_problem() {
    let tree = Tree::strix_halo().npu("power/runtime_status", "error\n");
    expect(
        &tree,
        "wedged",
        Health::Problem,
        "could not resume or suspend the NPU",
        "modprobe -r amdxdna",
    );
}

#[test]
fn a_log_that_may_not_be_read_leaves_it_unknown() {
    let tree = Tree::strix_halo().without("/dev/kmsg");
    expect(&tree, "wedged", Health::Unknown, "this user cannot read", "sudo dmesg");
}

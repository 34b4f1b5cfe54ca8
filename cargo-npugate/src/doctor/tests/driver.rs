//! From the PCI bus to the device node.

use super::*;
use crate::doctor::tree::ADDRESS;

const NODE: &str = "/dev/accel/accel0";

fn unbound() -> Tree {
    let folder = format!("/sys/bus/pci/devices/{ADDRESS}");
    Tree::strix_halo()
        .without(&format!("{folder}/driver"))
        .without(&format!("{folder}/vbnv"))
        .without(&format!("{folder}/fw_version"))
        .without("/dev/accel")
}

#[test]
fn the_fix_for_an_npu_that_the_bios_hides_names_the_bios() {
    let tree = Tree::new()
        .file("/sys/bus/pci/devices/0000:00:00.0/vendor", "0x1022\n")
        .file("/proc/cpuinfo", "model name\t: AMD Ryzen AI 9 HX 370 w/ Radeon 890M\n");
    expect(&tree, "pci", Health::Problem, "no AMD NPU on the PCI bus", "in the BIOS");
    assert_eq!(check(&tree, "pci").evidence.len(), 2);
}

#[test]
fn the_fix_for_a_virtual_machine_is_to_pass_the_npu_through() {
    let guest = Tree::new().file("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    expect(&guest, "pci", Health::Problem, "no PCI bus", "pass it through");
}

#[test]
fn other_generations_are_refused() {
    let phoenix = Tree::strix_halo().npu("device", "0x1502\n").npu("revision", "0x00\n");
    expect(&phoenix, "pci", Health::Problem, "is of generation npu1", "Strix");
    expect(&phoenix, "elf", Health::NotApplicable, "only for npu2", "");
    let next = Tree::strix_halo().npu("device", "0x17f1\n").npu("revision", "0x00\n");
    expect(&next, "pci", Health::Problem, "compute nothing", "Strix");
    let unknown = Tree::strix_halo().npu("revision", "0x30\n");
    expect(&unknown, "pci", Health::Unknown, "revision 30", "xrt-smi examine");
}

#[test]
fn the_double_of_the_driver_is_never_called_hardware() {
    let fake = Tree::strix_halo().npu("vbnv", "RyzenAI-npu4 (fake)\n");
    expect(&fake, "pci", Health::Ok, "a double of the driver, not hardware", "");
}

#[test]
fn a_second_npu_is_named_as_not_used() {
    let other = "/sys/bus/pci/devices/0000:c6:00.1";
    let tree = Tree::strix_halo()
        .file(&format!("{other}/vendor"), "0x1022\n")
        .file(&format!("{other}/device"), "0x17f0\n")
        .file(&format!("{other}/revision"), "0x10\n");
    let evidence = check(&tree, "pci").evidence;
    assert_eq!(evidence[1], "not used: 0000:c6:00.1: 1022:17f0 revision 10");
}

#[test]
fn without_the_module_the_checks_of_the_driver_do_not_apply() {
    let tree = unbound().without("/sys/module/amdxdna");
    expect(
        &tree,
        "module",
        Health::Problem,
        "not installed for this kernel",
        "linux-modules-extra",
    );
    expect(&tree, "node", Health::NotApplicable, "see module", "");
    expect(&tree, "power", Health::NotApplicable, "see module", "");
    let old = unbound()
        .without("/sys/module/amdxdna")
        .file("/proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
    expect(&old, "module", Health::Problem, "6.8.0-45-generic has no module", "6.14");
}

#[test]
fn the_fix_for_an_installed_module_is_to_load_it() {
    let file = "/lib/modules/7.0.4-amd64/updates/dkms/amdxdna.ko";
    let installed = || unbound().without("/sys/module/amdxdna").file(file, "");
    expect(&installed(), "module", Health::Problem, "not loaded", "modprobe amdxdna");
    let blacklist = "/etc/modprobe.d/no-npu.conf";
    let kept_out = installed().file(blacklist, "blacklist amdxdna\n");
    expect(&kept_out, "module", Health::Problem, "no-npu.conf blocks it", "remove `blacklist");
    let locked = installed().file("/sys/kernel/security/lockdown", "none [integrity] x\n");
    expect(&locked, "module", Health::Problem, "not loaded", "Secure Boot");
}

#[test]
fn a_driver_that_did_not_take_the_npu_is_shown_with_its_log() {
    let line = "amdxdna 0000:c5:00.1: [drm] *ERROR* aie2_init: failed to request_firmware npu.sbin, ret -2";
    let tree = unbound().file("/dev/kmsg", &format!("3,9,9,-;{line}\n"));
    expect(&tree, "module", Health::Problem, "did not take the NPU", "dmesg");
    assert!(check(&tree, "module").evidence.contains(&line.to_owned()));
    let vfio = Tree::strix_halo().link(
        &format!("/sys/bus/pci/devices/{ADDRESS}/driver"),
        "../../../../bus/pci/drivers/vfio-pci",
    );
    expect(&vfio, "module", Health::Problem, "vfio-pci has the NPU", "give it back");
}

#[test]
fn the_fix_for_a_node_without_permission_is_its_group() {
    let tree = Tree::strix_halo()
        .file(NODE, "errno 13\n")
        .file("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGroups:\t1000 27\n");
    expect(
        &tree,
        "node",
        Health::Problem,
        "no permission to open /dev/accel/accel0",
        "usermod -aG render",
    );
    let evidence = check(&tree, "node").evidence;
    assert!(evidence.contains(&"this process: user 1000".to_owned()), "{evidence:?}");
    assert!(evidence.contains(&"this process: groups 1000 27".to_owned()), "{evidence:?}");
    let inside = tree.file("/run/.containerenv", "");
    expect(&inside, "node", Health::Problem, "no permission to open", "podman run --device");
}

#[test]
fn a_node_of_mode_0_is_refused_by_the_system_itself() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::strix_halo();
    let path = tree.root().join("dev/accel/accel0");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        eprintln!("SKIPPED: this user may open everything");
        return;
    }
    expect(&tree, "node", Health::Problem, "no permission to open", "render");
}

#[test]
fn the_fix_for_a_container_without_the_node_is_to_start_it_with_the_node() {
    let tree = Tree::strix_halo().without("/dev/accel").file("/.dockerenv", "");
    let fix = "docker run --device /dev/accel/accel0 --ulimit memlock=-1";
    expect(&tree, "node", Health::Problem, "in this container (docker)", fix);
    let machine = Tree::strix_halo().without("/dev/accel");
    expect(&machine, "node", Health::Problem, "there is no /dev/accel/accel0", "modprobe");
}

#[test]
fn an_iommu_that_is_off_is_seen_on_the_command_line() {
    let tree = Tree::strix_halo().file("/proc/cmdline", "quiet amd_iommu=off\n");
    expect(&tree, "iommu", Health::Problem, "turned off", "remove `amd_iommu=off`");
    let group = format!("/sys/bus/pci/devices/{ADDRESS}/iommu_group");
    let opens = Tree::strix_halo().without(&group);
    expect(&opens, "iommu", Health::Warning, "not in an IOMMU group", "BIOS");
    let none = opens.without(NODE);
    expect(&none, "iommu", Health::Problem, "cannot share an address space", "BIOS");
}

#[test]
fn a_node_that_fails_to_open_for_lack_of_sva_is_distinguished_from_other_failures() {
    for errno in [19, 28, 95] {
        let tree = Tree::strix_halo().file(NODE, &format!("errno {errno}\n"));
        expect(&tree, "iommu", Health::Problem, "cannot share an address space", "AMD-Vi");
        expect(&tree, "node", Health::Problem, &format!("error {errno}"), "see iommu");
    }
    let guest = Tree::strix_halo()
        .file(NODE, "errno 95\n")
        .file("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    expect(&guest, "iommu", Health::Problem, "cannot share", "run on the host");
    let busy = Tree::strix_halo().file(NODE, "errno 16\n");
    expect(&busy, "iommu", Health::Ok, "DMA-FQ", "");
}

#[test]
fn passing_through_is_a_warning() {
    let tree = Tree::strix_halo().file("/sys/kernel/iommu_groups/24/type", "identity\n");
    expect(&tree, "iommu", Health::Warning, "passes the NPU's addresses through", "iommu=pt");
    let hidden = Tree::strix_halo().without("/sys/kernel/iommu_groups");
    expect(&hidden, "iommu", Health::Unknown, "cannot read", "dmesg");
}

//! The IOMMU translates addresses for the NPU. amdxdna needs that, since it shares the
//! address space of the process with the NPU (SVA).

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::node::Node;
use crate::doctor::npu::Npu;
use crate::doctor::process::Place;

/// The errors of opening the node when the address space cannot be shared, by Linux's
/// numbers: ENODEV, ENOSPC, EOPNOTSUPP.
const NO_SVA: [i32; 3] = [19, 28, 95];

/// Checks the kernel's command line, the NPU's group and the result of opening the node.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let words = machine.system.text("/proc/cmdline").unwrap_or_default();
    let off = words.split_whitespace().find(|word| matches!(*word, "amd_iommu=off" | "iommu=off"));
    if let Some(off) = off {
        return Finding::problem(
            "the IOMMU is turned off on the kernel's command line",
            format!("remove `{off}` from it (GRUB: edit /etc/default/grub, then run `sudo update-grub`) and reboot"),
        )
        .with([format!("/proc/cmdline has {off}")]);
    }
    let refused = match machine.node {
        Some(Node::Refused(errno)) if NO_SVA.contains(&errno) => Some(errno),
        _ => None,
    };
    let kind = npu
        .iommu_group
        .as_ref()
        .and_then(|group| machine.system.text(format!("/sys/kernel/iommu_groups/{group}/type")));
    let evidence = || {
        let group = npu.iommu_group.iter();
        let group = group.map(|group| {
            let kind = kind.as_deref().unwrap_or("unknown");
            format!("IOMMU group {group}, type {kind}")
        });
        let opening =
            refused.map(|errno| format!("opening {} fails with error {errno}", npu.node()));
        group.chain(opening).collect::<Vec<_>>()
    };
    let in_guest = machine.place == Place::VirtualMachine;
    let opens = matches!(machine.node, Some(Node::Open(_)));
    if npu.iommu_group.is_none() && opens {
        return Finding::warning(
            "the NPU is not in an IOMMU group; its driver works without, but older drivers cannot make contexts then",
            "if contexts cannot be made (CREATE_HWCTX fails), turn on the IOMMU (AMD-Vi) in the BIOS",
        );
    }
    if refused.is_some() || npu.iommu_group.is_none() {
        let fix = if in_guest {
            "run on the host: a virtual machine needs a virtual IOMMU with PASID for this, which few have"
        } else {
            "turn on the IOMMU (AMD-Vi, SVM) in the BIOS, remove `iommu=` from the kernel's command line, and reboot"
        };
        let log = machine.log_lines(&["SVA", "iommu", "IOMMU", "PASID", "pasid"]);
        let text = "the NPU and this process cannot share an address space (SVA)";
        return Finding::problem(text, fix).with(evidence()).with(log);
    }
    match kind.as_deref() {
        Some("identity") => Finding::warning(
            "the IOMMU passes the NPU's addresses through, and older drivers cannot make contexts then (CREATE_HWCTX fails)",
            "remove `iommu=pt` from the kernel's command line, or use amdxdna from 2026 or later",
        ),
        Some(kind) => Finding::ok(format!("it translates addresses for the NPU ({kind})")),
        None => Finding::unknown(
            "cannot read how the IOMMU treats the NPU",
            "look at /sys/kernel/iommu_groups; if contexts cannot be made, run `sudo dmesg | grep -i iommu`",
        ),
    }
    .with(evidence())
}

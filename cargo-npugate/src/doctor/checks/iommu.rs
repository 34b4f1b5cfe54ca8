//! The IOMMU translates for the NPU: amdxdna shares the address space of the process
//! with it (SVA), and needs that.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::node::Node;
use crate::doctor::npu::Npu;
use crate::doctor::process::Place;

/// What opening the node fails with when there is no address space to share, as Linux
/// numbers it: ENODEV, ENOSPC, EOPNOTSUPP.
const NO_SVA: [i32; 3] = [19, 28, 95];

/// Looks at the kernel's command line, the NPU's group and what opening came to.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let words = machine.system.text("/proc/cmdline").unwrap_or_default();
    let off = words.split_whitespace().find(|word| matches!(*word, "amd_iommu=off" | "iommu=off"));
    if let Some(off) = off {
        return Finding::problem(
            "the IOMMU is switched off on the kernel's command line",
            format!("remove `{off}` from it (GRUB: /etc/default/grub, then `sudo update-grub`) and boot again"),
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
            "the NPU is in no IOMMU group, and its driver goes without: older ones make no context then",
            "switch the IOMMU (AMD-Vi) on in the BIOS if contexts cannot be made (CREATE_HWCTX fails)",
        );
    }
    if refused.is_some() || npu.iommu_group.is_none() {
        let fix = if in_guest {
            "a virtual machine needs a virtual IOMMU with PASID for this, which few have: run on the host"
        } else {
            "switch the IOMMU (AMD-Vi, SVM) on in the BIOS, take `iommu=` out of the kernel's command line, and boot again"
        };
        let log = machine.log_lines(&["SVA", "iommu", "IOMMU", "PASID", "pasid"]);
        let text = "the NPU and this process cannot share an address space (SVA)";
        return Finding::problem(text, fix).with(evidence()).with(log);
    }
    match kind.as_deref() {
        Some("identity") => Finding::warning(
            "the IOMMU passes the NPU's addresses through, with which older drivers make no context (CREATE_HWCTX fails)",
            "remove `iommu=pt` from the kernel's command line, or use amdxdna of 2026",
        ),
        Some(kind) => Finding::ok(format!("it translates for the NPU ({kind})")),
        None => Finding::unknown(
            "how the IOMMU treats the NPU cannot be read",
            "look at /sys/kernel/iommu_groups; if contexts cannot be made, see `sudo dmesg | grep -i iommu`",
        ),
    }
    .with(evidence())
}

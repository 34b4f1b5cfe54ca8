//! The driver runs programs of the ELF flow, which MLIR-AIR makes of language models.
//! They are submitted with opcode 22, which needs preemption.

use crate::doctor::finding::Finding;
use crate::doctor::generation::Generation;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use npugate_xrt::DriverInterface;

/// The first interface with preemption.
const PREEMPTION: DriverInterface = DriverInterface { major: 0, minor: 6 };

/// Compares the interface of the driver.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let flow = "programs of the ELF flow, which MLIR-AIR makes of models,";
    if npu.generation.is_some_and(|generation| generation != Generation::Npu2) {
        return Finding::not_applicable("the ELF flow is for npu2 alone (see pci)");
    }
    let fix = "use a newer kernel or the driver from github.com/amd/xdna-driver; or build xclbins with instructions in place of ELF";
    let interface = machine.interface();
    let evidence = interface.map(|interface| format!("driver interface {interface}"));
    match interface {
        // Drivers of 2024 and 2025 call theirs 1.0, and say nothing of preemption by it.
        Some(DriverInterface { major: 0, minor }) if minor >= PREEMPTION.minor => {
            Finding::ok(format!("driver interface 0.{minor} has preemption (since 0.6)"))
        }
        Some(interface @ DriverInterface { major: 0, .. }) => Finding::problem(
            format!("driver interface {interface} has no preemption (since 0.6): {flow} end in error 95"),
            fix,
        ),
        _ if machine.driver_is_before_0_6() => {
            let kernel = machine.driver.kernel.as_deref().unwrap_or("this kernel");
            Finding::problem(
                format!("the driver of {kernel} has no preemption (interface 0.6): {flow} end in error 95"),
                fix,
            )
        }
        _ => Finding::unknown(
            "whether the driver has preemption (interface 0.6) cannot be seen",
            format!("if {flow} end in error 95, it does not: {fix}"),
        ),
    }
    .with(evidence)
}

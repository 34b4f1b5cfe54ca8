//! The driver runs ELF programs, which MLIR-AIR makes for language models. They are
//! submitted with opcode 22, which needs preemption.

use crate::doctor::finding::Finding;
use crate::doctor::generation::Generation;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use npugate_xrt::DriverInterface;

/// The first interface with preemption.
const PREEMPTION: DriverInterface = DriverInterface { major: 0, minor: 6 };

/// Checks the version of the driver's interface.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let flow = "ELF programs, which MLIR-AIR makes for models,";
    if npu.generation.is_some_and(|generation| generation != Generation::Npu2) {
        return Finding::not_applicable("ELF programs are only for npu2 (see pci)");
    }
    let fix = "use a newer kernel or the driver from github.com/amd/xdna-driver; or build xclbins with instructions instead of ELFs";
    let interface = machine.interface();
    let evidence = interface.map(|interface| format!("driver interface {interface}"));
    match interface {
        // Drivers of 2024 and 2025 report 1.0, which says nothing about preemption.
        Some(DriverInterface { major: 0, minor }) if minor >= PREEMPTION.minor => {
            Finding::ok(format!("driver interface 0.{minor} has preemption (since 0.6)"))
        }
        Some(interface @ DriverInterface { major: 0, .. }) => Finding::problem(
            format!("driver interface {interface} has no preemption (since 0.6): {flow} fail with error 95"),
            fix,
        ),
        _ if machine.driver_is_before_0_6() => {
            let kernel = machine.driver.kernel.as_deref().unwrap_or("of unknown version");
            Finding::problem(
                format!("the driver of kernel {kernel} has no preemption (interface 0.6): {flow} fail with error 95"),
                fix,
            )
        }
        _ => Finding::unknown(
            "cannot tell whether the driver has preemption (interface 0.6)",
            format!("if {flow} fail with error 95, it does not: {fix}"),
        ),
    }
    .with(evidence)
}

//! An NPU of a known generation is on the PCI bus.

use crate::doctor::finding::Finding;
use crate::doctor::generation::Generation;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::process::{self, Place};

/// Looks for an NPU.
pub fn examine(machine: &Machine) -> Finding {
    let Some(npu) = machine.npu() else { return none(machine) };
    let title = npu.title();
    let others = machine.npus.iter().skip(1);
    let finding = match npu.generation {
        // npugate tests itself on a double of the driver, whose name says "fake".
        Some(Generation::Npu2) if title.contains("fake") => {
            Finding::ok(format!("{title} (npu2, 8 columns): a double of the driver, not hardware"))
        }
        Some(Generation::Npu2) => Finding::ok(format!("{title} (npu2, 8 columns)")),
        Some(generation) => {
            let of = generation.as_str();
            Finding::problem(
                format!(
                    "{title} is of generation {of}, but npugate's programs are for npu2: here they would load without an error and compute nothing"
                ),
                "use a machine with a Strix, Strix Halo or Krackan processor, or `--device emu`",
            )
        }
        None => Finding::unknown(
            format!("{title} has revision {:02x}, which npugate does not know", npu.revision),
            "run `xrt-smi examine` to see its architecture; if that is aie2p, report the revision to npugate's maintainers",
        ),
    };
    finding.with([line(npu)]).with(others.map(|npu| format!("not used: {}", line(npu))))
}

fn line(npu: &Npu) -> String {
    format!("{}: {} revision {:02x}", npu.address, npu.pci_id(), npu.revision)
}

fn none(machine: &Machine) -> Finding {
    let processor = process::processor(&machine.system);
    // AMD's name for processors with an NPU since 2024; those of 2023 have other names.
    let should =
        processor.as_ref().is_some_and(|name| name.to_ascii_lowercase().contains("ryzen ai"));
    let emulated = "without one, tests run on the emulated NPU (`--device emu`)";
    let fix = match &machine.place {
        Place::VirtualMachine => format!(
            "if the host has one, pass it through to this virtual machine (VFIO); {emulated}"
        ),
        _ if should => {
            "turn on the NPU in the BIOS (\"IPU\", \"NPU\" or \"AI engine\"), update the BIOS, and reboot".to_owned()
        }
        _ => format!("if this machine should have one, turn it on in the BIOS (\"IPU\" or \"NPU\"); {emulated}"),
    };
    let finding = if machine.system.exists("/sys/bus/pci/devices") {
        let devices = machine.system.names("/sys/bus/pci/devices").len();
        Finding::problem("there is no AMD NPU on the PCI bus", fix)
            .with([format!("/sys/bus/pci/devices has {devices} devices, and none is an AMD NPU")])
    } else {
        Finding::problem("there is no PCI bus, and so no NPU", fix)
            .with(["/sys/bus/pci/devices does not exist"])
    };
    finding.with(processor.map(|name| format!("the processor is {name}")))
}

//! An NPU of a known generation is on the PCI bus.

use crate::doctor::finding::Finding;
use crate::doctor::generation::Generation;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::process::{self, Place};

/// Looks for it.
pub fn examine(machine: &Machine) -> Finding {
    let Some(npu) = machine.npu() else { return none(machine) };
    let title = npu.title();
    let others = machine.npus.iter().skip(1);
    let finding = match npu.generation {
        // The double of the driver, on which npugate tests itself, says so in its name.
        Some(Generation::Npu2) if title.contains("fake") => {
            Finding::ok(format!("{title} (npu2, 8 columns): a double of the driver, no hardware"))
        }
        Some(Generation::Npu2) => Finding::ok(format!("{title} (npu2, 8 columns)")),
        Some(generation) => {
            let of = generation.as_str();
            Finding::problem(
                format!(
                    "{title} is of generation {of}, and npugate's programs are for npu2: they load without an error and compute nothing"
                ),
                "use a machine with a Strix, Strix Halo or Krackan processor, or `--device emu`",
            )
        }
        None => Finding::unknown(
            format!("{title} has revision {:02x}, which npugate does not know", npu.revision),
            "see what `xrt-smi examine` calls it; if that is aie2p, tell npugate's maintainers the revision",
        ),
    };
    finding.with([line(npu)]).with(others.map(|npu| format!("not used: {}", line(npu))))
}

fn line(npu: &Npu) -> String {
    format!("{}: {} revision {:02x}", npu.address, npu.pci_id(), npu.revision)
}

fn none(machine: &Machine) -> Finding {
    let processor = process::processor(&machine.system);
    // AMD's name for processors with an NPU, since 2024; those of 2023 are not named so.
    let should =
        processor.as_ref().is_some_and(|name| name.to_ascii_lowercase().contains("ryzen ai"));
    let emulated = "tests run on the emulated NPU without one (`--device emu`)";
    let fix = match &machine.place {
        Place::VirtualMachine => format!(
            "if the host has one, pass it through to this virtual machine (VFIO); {emulated}"
        ),
        _ if should => {
            "switch the NPU on in the BIOS (\"IPU\", \"NPU\" or \"AI engine\"), update the BIOS, and boot again".to_owned()
        }
        _ => format!("if this machine should have one, switch it on in the BIOS (\"IPU\" or \"NPU\"); {emulated}"),
    };
    let finding = if machine.system.exists("/sys/bus/pci/devices") {
        let devices = machine.system.names("/sys/bus/pci/devices").len();
        Finding::problem("there is no AMD NPU on the PCI bus", fix)
            .with([format!("/sys/bus/pci/devices has {devices} devices, and none of AMD's NPUs")])
    } else {
        Finding::problem("there is no PCI bus to find an NPU on", fix)
            .with(["there is no /sys/bus/pci/devices"])
    };
    finding.with(processor.map(|name| format!("the processor is {name}")))
}

//! The fourteen checks as data: the name, the title, what each looks at, and the sources
//! of its knowledge.

use super::checks;
use super::finding::Finding;
use super::machine::Machine;
use super::npu::Npu;
use npugate_schema::Examined;

/// A check.
pub struct Check {
    /// Its stable name.
    pub name: &'static str,
    /// What it shows, as a sentence.
    pub title: &'static str,
    /// The public issues and documents from which its findings are known.
    pub sources: &'static [&'static str],
    /// What it looks at.
    pub looks_at: LooksAt,
}

/// What a check looks at, and so what must exist for it.
pub enum LooksAt {
    /// The machine.
    Machine(fn(&Machine) -> Finding),
    /// An NPU on the PCI bus.
    Npu(fn(&Machine, &Npu) -> Finding),
    /// An NPU that is bound to its driver.
    Driver(fn(&Machine, &Npu) -> Finding),
}

use LooksAt::{Driver as OfDriver, Machine as OfMachine, Npu as OfNpu};

/// All checks, with those first on which others depend.
pub const CHECKS: [Check; 14] = [
    Check {
        name: "pci",
        title: "An NPU of a known generation is on the PCI bus",
        sources: &["amdxdna: device tables", "mlir-air: xrt.py"],
        looks_at: OfMachine(checks::pci::examine),
    },
    Check {
        name: "module",
        title: "The kernel module amdxdna has the NPU",
        sources: &[
            "Xilinx/mlir-aie#2615",
            "Xilinx/mlir-aie#1618",
            "Xilinx/XRT#9141",
            "amd/xdna-driver#299",
            "amd/xdna-driver#282",
            "amd/xdna-driver#957",
        ],
        looks_at: OfNpu(checks::module::examine),
    },
    Check {
        name: "node",
        title: "The NPU's device node can be opened",
        sources: &["amd/xdna-driver#282", "pve-kernel#1"],
        looks_at: OfDriver(checks::node::examine),
    },
    Check {
        name: "iommu",
        title: "The IOMMU translates addresses for the NPU",
        sources: &[
            "amd/xdna-driver#704",
            "amd/xdna-driver#1028",
            "amd/xdna-driver#62",
            "amd/xdna-driver#168",
            "amd/xdna-driver#299",
            "nix-amd-ai#49",
            "nix-amd-ai#53",
            "nix-amd-ai#79",
            "kernel-packages#39",
            "amd/xdna-driver PR#1445",
        ],
        looks_at: OfNpu(checks::iommu::examine),
    },
    Check {
        name: "memlock",
        title: "Enough memory can be locked for the NPU's buffers",
        sources: &["amd/xdna-driver#903", "Xilinx/XRT#9132", "FastFlowLM#437"],
        looks_at: OfNpu(checks::memlock::examine),
    },
    Check {
        name: "firmware",
        title: "The NPU's firmware is installed and accepted",
        sources: &[
            "amd/xdna-driver#1074",
            "amd/xdna-driver#389",
            "amd/xdna-driver#421",
            "amd/xdna-driver#282",
            "amd/xdna-driver#958",
            "amd/xdna-driver#1250",
            "amd/xdna-driver#1257",
            "amd/xdna-driver PR#1448",
        ],
        looks_at: OfNpu(checks::firmware::examine),
    },
    Check {
        name: "versions",
        title: "XRT and the driver match",
        sources: &[
            "amd/xdna-driver#118",
            "amd/xdna-driver#513",
            "amd/xdna-driver#923",
            "amd/xdna-driver PR#1448",
        ],
        looks_at: OfDriver(checks::versions::examine),
    },
    Check {
        name: "elf",
        title: "The driver runs ELF programs",
        sources: &["amdxdna: aie2_message.c, npu4_regs.c", "amd/xdna-driver#513"],
        looks_at: OfDriver(checks::elf::examine),
    },
    Check {
        name: "xrt",
        title: "XRT is complete, and npugate's shim for it is built",
        sources: &["XRT: module_loader.cpp", "amd/xdna-driver#957"],
        looks_at: OfMachine(checks::xrt::examine),
    },
    Check {
        name: "contexts",
        title: "There are free hardware contexts",
        sources: &[
            "Xilinx/mlir-aie PR#3526",
            "Xilinx/mlir-aie#2333",
            "Xilinx/mlir-aie PR#2622",
            "amd/xdna-driver PR#1585",
            "amd/xdna-driver#1066",
        ],
        looks_at: OfDriver(checks::contexts::examine),
    },
    Check {
        name: "reset",
        title: "The driver gives kernels enough time",
        sources: &["amd/xdna-driver#1083", "amd/xdna-driver#51", "Xilinx/mlir-aie#2501"],
        looks_at: OfDriver(checks::reset::examine),
    },
    Check {
        name: "power",
        title: "The NPU runs at the speed of published measurements",
        sources: &["amd/xdna-driver#307", "Xilinx/XRT#8791", "mlir-air: READMEs"],
        looks_at: OfDriver(checks::power::examine),
    },
    Check {
        name: "wedged",
        title: "The NPU is not stuck after an earlier failure",
        sources: &[
            "Xilinx/mlir-air PR#1809",
            "Xilinx/mlir-aie#1539",
            "amd/xdna-driver#1605",
            "amd/xdna-driver PR#1585",
            "1bit-MONSTER#1920",
        ],
        looks_at: OfDriver(checks::wedged::examine),
    },
    Check {
        name: "lock",
        title: "Nobody else holds the NPU",
        sources: &["Xilinx/mlir-air PR#1809", "mlir-aie: utils/run_on_npu.py"],
        looks_at: OfMachine(checks::lock::examine),
    },
];

impl Check {
    /// Runs the check, if what it looks at exists.
    pub fn examine(&self, machine: &Machine) -> Examined {
        let Finding { health, text, evidence, fix } = self.finding(machine);
        Examined {
            check: self.name.to_owned(),
            title: self.title.to_owned(),
            health,
            finding: text,
            evidence,
            fix,
            sources: self.sources.iter().map(|&source| source.to_owned()).collect(),
        }
    }

    fn finding(&self, machine: &Machine) -> Finding {
        let nothing = || Finding::not_applicable("there is no NPU (see pci)");
        match (&self.looks_at, machine.npu()) {
            (LooksAt::Machine(look), _) => look(machine),
            (_, None) => nothing(),
            (LooksAt::Npu(look), Some(npu)) => look(machine, npu),
            (LooksAt::Driver(_), Some(npu)) if !npu.is_bound() => {
                Finding::not_applicable("amdxdna does not have the NPU (see module)")
            }
            (LooksAt::Driver(look), Some(npu)) => look(machine, npu),
        }
    }
}

//! The fourteen checks as data: what each is called and about, what it stands on, where
//! its knowledge comes from.

use super::checks;
use super::finding::Finding;
use super::machine::Machine;
use super::npu::Npu;
use npugate_schema::Examined;

/// A check.
pub struct Check {
    /// Its stable name.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Public issues and documents that it knows its findings from.
    pub sources: &'static [&'static str],
    /// What it looks at.
    pub looks_at: LooksAt,
}

/// What a check looks at, and so what must be there for it.
pub enum LooksAt {
    /// The machine.
    Machine(fn(&Machine) -> Finding),
    /// An NPU on the PCI bus.
    Npu(fn(&Machine, &Npu) -> Finding),
    /// An NPU that its driver has.
    Driver(fn(&Machine, &Npu) -> Finding),
}

use LooksAt::{Driver as OfDriver, Machine as OfMachine, Npu as OfNpu};

/// Every check, what others stand on first.
pub const CHECKS: [Check; 14] = [
    Check {
        name: "pci",
        title: "An NPU of a known generation is on the PCI bus",
        sources: &["amdxdna: device tables", "mlir-air: xrt.py"],
        looks_at: OfMachine(checks::pci::examine),
    },
    Check {
        name: "module",
        title: "The kernel's module amdxdna has it",
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
        title: "Its device node can be opened",
        sources: &["amd/xdna-driver#282", "pve-kernel#1"],
        looks_at: OfDriver(checks::node::examine),
    },
    Check {
        name: "iommu",
        title: "The IOMMU translates for it",
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
        title: "Enough memory may be locked for its buffers",
        sources: &["amd/xdna-driver#903", "Xilinx/XRT#9132", "FastFlowLM#437"],
        looks_at: OfNpu(checks::memlock::examine),
    },
    Check {
        name: "firmware",
        title: "Its firmware is there and accepted",
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
        title: "XRT and the driver go together",
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
        title: "The driver runs programs of the ELF flow",
        sources: &["amdxdna: aie2_message.c, npu4_regs.c", "amd/xdna-driver#513"],
        looks_at: OfDriver(checks::elf::examine),
    },
    Check {
        name: "xrt",
        title: "XRT is complete, and npugate's shim is built for it",
        sources: &["XRT: module_loader.cpp", "amd/xdna-driver#957"],
        looks_at: OfMachine(checks::xrt::examine),
    },
    Check {
        name: "contexts",
        title: "There are hardware contexts left",
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
        title: "The driver leaves kernels the time that they take",
        sources: &["amd/xdna-driver#1083", "amd/xdna-driver#51", "Xilinx/mlir-aie#2501"],
        looks_at: OfDriver(checks::reset::examine),
    },
    Check {
        name: "power",
        title: "It runs at the speed that figures are measured at",
        sources: &["amd/xdna-driver#307", "Xilinx/XRT#8791", "mlir-air: READMEs"],
        looks_at: OfDriver(checks::power::examine),
    },
    Check {
        name: "wedged",
        title: "It is not stuck in an earlier failure",
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
        title: "Nobody else has taken it",
        sources: &["Xilinx/mlir-air PR#1809", "mlir-aie: utils/run_on_npu.py"],
        looks_at: OfMachine(checks::lock::examine),
    },
];

impl Check {
    /// Looks, unless what it looks at is not there.
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

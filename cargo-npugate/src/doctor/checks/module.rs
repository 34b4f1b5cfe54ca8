//! The kernel's module amdxdna has the NPU.

use crate::doctor::driver::Module;
use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// The first kernel with the module in its own tree.
const FIRST: (u32, u32) = (6, 14);

/// Looks for the driver that has it.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let driver = &machine.driver;
    let kernel = driver.kernel.as_deref().unwrap_or("unknown");
    let finding = match (&npu.driver, &driver.module) {
        (Some(_), _) if npu.is_bound() => {
            let version = driver.version.as_deref();
            let of =
                version.map_or("of the kernel's tree".to_owned(), |of| format!("version {of}"));
            Finding::ok(format!("amdxdna {of} has it, on kernel {kernel}"))
        }
        (Some(other), _) if other == "vfio-pci" => Finding::problem(
            "vfio-pci has the NPU, for a virtual machine",
            "give it back: stop that virtual machine, take its id out of vfio-pci's `ids=`, and boot again",
        ),
        (Some(other), _) => Finding::problem(
            format!("another driver has the NPU: {other}"),
            format!(
                "unbind it (`echo {} | sudo tee /sys/bus/pci/drivers/{other}/unbind`), then `sudo modprobe amdxdna`",
                npu.address
            ),
        ),
        (None, Module::Loaded) => Finding::problem(
            "amdxdna is loaded and did not take the NPU",
            "the kernel's log says why (`sudo dmesg | grep amdxdna`): missing firmware and a BIOS with the NPU or the IOMMU off are what it usually is",
        ),
        (None, Module::File(file)) => not_loaded(machine, file),
        (None, Module::Missing) => missing(machine, kernel),
    };
    let bad = ["failed", "error", "rejected", "not alive", "Incompatible"];
    let log = if npu.is_bound() { Vec::new() } else { machine.log_lines(&bad) };
    finding.with([format!("kernel {kernel}")]).with(log)
}

fn not_loaded(machine: &Machine, file: &str) -> Finding {
    let driver = &machine.driver;
    let text = "the module amdxdna is installed and not loaded";
    if let Some(blacklist) = &driver.blacklist {
        return Finding::problem(
            format!("{text}: {blacklist} keeps it out"),
            format!("remove `blacklist amdxdna` from {blacklist}, then `sudo modprobe amdxdna`"),
        );
    }
    let unsigned = driver.lockdown.is_some() && !file.contains("/kernel/");
    let fix = if unsigned {
        "sign the module and enrol the key (`sudo mokutil --import`), or switch Secure Boot off; then `sudo modprobe amdxdna`"
    } else {
        "`sudo modprobe amdxdna`; what it says then, and `sudo dmesg | grep amdxdna`, say why if it fails"
    };
    let lockdown = driver.lockdown.iter();
    Finding::problem(text, fix).with([file]).with(lockdown.map(|mode| {
        format!("the kernel is locked down ({mode}): it refuses modules that nobody signed")
    }))
}

fn missing(machine: &Machine, kernel: &str) -> Finding {
    if machine.driver.release().is_some_and(|release| release >= FIRST) {
        return Finding::problem(
            "the module amdxdna is not there for this kernel",
            "install the kernel's other modules (Ubuntu: `linux-modules-extra`), one with CONFIG_DRM_ACCEL_AMDXDNA, or the driver from github.com/amd/xdna-driver",
        );
    }
    Finding::problem(
        format!("kernel {kernel} has no module amdxdna: it came with 6.14"),
        "install a kernel of 6.14 or later, or the driver from github.com/amd/xdna-driver (DKMS)",
    )
}

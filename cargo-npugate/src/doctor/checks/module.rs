//! The kernel's module amdxdna has the NPU.

use crate::doctor::driver::Module;
use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// The first kernel with the module in its own tree.
const FIRST: (u32, u32) = (6, 14);

/// Checks which driver has the NPU.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let driver = &machine.driver;
    let kernel = driver.kernel.as_deref().unwrap_or("unknown");
    let finding = match (&npu.driver, &driver.module) {
        (Some(_), _) if npu.is_bound() => {
            Finding::ok(match &driver.version {
                // Modules of the kernel's tree have no version of their own.
                None => format!("amdxdna of kernel {kernel} has the NPU"),
                Some(version) => format!("amdxdna {version} has the NPU, on kernel {kernel}"),
            })
        }
        (Some(other), _) if other == "vfio-pci" => Finding::problem(
            "vfio-pci has the NPU, for a virtual machine",
            "give it back: stop that virtual machine, remove its id from vfio-pci's `ids=`, and reboot",
        ),
        (Some(other), _) => Finding::problem(
            format!("another driver has the NPU: {other}"),
            format!(
                "unbind it (`echo {} | sudo tee /sys/bus/pci/drivers/{other}/unbind`), then run `sudo modprobe amdxdna`",
                npu.address
            ),
        ),
        (None, Module::Loaded) => Finding::problem(
            "amdxdna is loaded, but did not take the NPU",
            "read the kernel's log (`sudo dmesg | grep amdxdna`): usual causes are missing firmware, and an NPU or IOMMU that is turned off in the BIOS",
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
    let text = "the module amdxdna is installed, but not loaded";
    if let Some(blacklist) = &driver.blacklist {
        return Finding::problem(
            format!("{text}: {blacklist} blocks it"),
            format!(
                "remove `blacklist amdxdna` from {blacklist}, then run `sudo modprobe amdxdna`"
            ),
        );
    }
    let unsigned = driver.lockdown.is_some() && !file.contains("/kernel/");
    let fix = if unsigned {
        "sign the module and enrol the key (`sudo mokutil --import`), or turn Secure Boot off; then run `sudo modprobe amdxdna`"
    } else {
        "run `sudo modprobe amdxdna`; if it fails, its message and `sudo dmesg | grep amdxdna` say why"
    };
    let lockdown = driver.lockdown.iter();
    Finding::problem(text, fix).with([file]).with(
        lockdown
            .map(|mode| format!("the kernel is locked down ({mode}): it refuses unsigned modules")),
    )
}

fn missing(machine: &Machine, kernel: &str) -> Finding {
    if machine.driver.release().is_some_and(|release| release >= FIRST) {
        return Finding::problem(
            "the module amdxdna is not installed for this kernel",
            "install the kernel's extra modules (Ubuntu: `linux-modules-extra`), a kernel with CONFIG_DRM_ACCEL_AMDXDNA, or the driver from github.com/amd/xdna-driver",
        );
    }
    Finding::problem(
        format!("kernel {kernel} has no module amdxdna, which came with 6.14"),
        "install kernel 6.14 or later, or the driver from github.com/amd/xdna-driver (DKMS)",
    )
}

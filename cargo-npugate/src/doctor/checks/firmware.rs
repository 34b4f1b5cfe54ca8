//! The NPU's firmware is installed, and the driver accepts it.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// Where the kernel looks for firmware.
const FOLDERS: [&str; 3] = ["/lib/firmware/updates", "/lib/firmware", "/usr/lib/firmware"];

/// What the driver logs when it does not accept the firmware.
const REFUSALS: [&str; 5] = [
    "Incompatible firmware protocol",
    "firmware is not alive",
    "failed to request_firmware",
    "Direct firmware load for amdnpu",
    "npu.sbin failed",
];

/// Checks what the driver loaded, the files and the log.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let folder = format!("amdnpu/{}", npu.firmware_folder());
    let files: Vec<_> = FOLDERS
        .iter()
        .flat_map(|root| {
            let path = format!("{root}/{folder}");
            let names = machine.system.names(&path).into_iter();
            names.filter(|name| name.contains(".sbin")).map(move |name| format!("{path}/{name}"))
        })
        .collect();
    // A refusal no longer holds if a later load succeeded.
    let refusals = if npu.is_bound() && npu.firmware.is_some() {
        Vec::new()
    } else {
        machine.log_lines(&REFUSALS)
    };
    if refusals.iter().any(|line| line.contains("Incompatible firmware protocol")) {
        return Finding::problem(
            "the driver does not support the firmware's protocol",
            "update linux-firmware and the kernel (or xdna-driver) together, so that they match, then reboot",
        )
        .with(refusals)
        .with(files);
    }
    if let (Some(version), true) = (&npu.firmware, npu.is_bound()) {
        return Finding::ok(format!("firmware {version} is loaded")).with(files);
    }
    if files.is_empty() {
        return Finding::problem(
            format!("the NPU's firmware is missing: /lib/firmware/{folder} has none"),
            "install linux-firmware (on Debian, `apt-file search amdnpu` finds the package), then reboot",
        )
        .with(refusals);
    }
    if !refusals.is_empty() {
        return Finding::problem(
            "the firmware is installed, but the NPU did not start with it",
            "reboot, which new firmware needs; if that does not help, update linux-firmware and the BIOS",
        )
        .with(refusals)
        .with(files);
    }
    Finding::unknown(
        "the firmware is installed; whether it is loaded is unknown",
        "run `xrt-smi examine` to see its version, once the driver has the NPU (see module)",
    )
    .with(files)
}

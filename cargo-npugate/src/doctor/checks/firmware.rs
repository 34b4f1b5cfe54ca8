//! The NPU's firmware is there and accepted.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// Where the kernel looks for firmware.
const FOLDERS: [&str; 3] = ["/lib/firmware/updates", "/lib/firmware", "/usr/lib/firmware"];

/// What the driver writes when it does not get on with it.
const REFUSALS: [&str; 5] = [
    "Incompatible firmware protocol",
    "firmware is not alive",
    "failed to request_firmware",
    "Direct firmware load for amdnpu",
    "npu.sbin failed",
];

/// Looks at what the driver loaded, at the files and at the log.
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
    // A refusal that a later load made good is no longer true.
    let refusals = if npu.is_bound() && npu.firmware.is_some() {
        Vec::new()
    } else {
        machine.log_lines(&REFUSALS)
    };
    if refusals.iter().any(|line| line.contains("Incompatible firmware protocol")) {
        return Finding::problem(
            "the driver does not speak the firmware's protocol",
            "let both be of one age: update linux-firmware and the kernel (or xdna-driver) together, then boot again",
        )
        .with(refusals)
        .with(files);
    }
    if let (Some(version), true) = (&npu.firmware, npu.is_bound()) {
        return Finding::ok(format!("firmware {version} is loaded")).with(files);
    }
    if files.is_empty() {
        return Finding::problem(
            format!("there is no firmware for it: /lib/firmware/{folder} has none"),
            "install linux-firmware (Debian splits it: `apt-file search amdnpu` names the package), then boot again",
        )
        .with(refusals);
    }
    if !refusals.is_empty() {
        return Finding::problem(
            "the firmware is installed, and the NPU did not start with it",
            "boot again, which a new firmware needs; if it stays, update linux-firmware and the BIOS",
        )
        .with(refusals)
        .with(files);
    }
    Finding::unknown(
        "the firmware is installed; whether it is loaded cannot be seen",
        "`xrt-smi examine` prints its version once the driver has the NPU (see module)",
    )
    .with(files)
}

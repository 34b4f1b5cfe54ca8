//! The NPU is not stuck after an earlier failure, from which only reloading the module or
//! a power cycle recovers.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// What the driver logs then: commands to which the firmware does not respond (62 is
/// ETIME, 5 is EIO), and a resume that fails.
const SIGNS: [&str; 6] = [
    "firmware is not alive",
    "ret -62",
    "ret -5",
    "failed to resume",
    "Resume failed",
    "timed out",
];

/// How to find out more with a run.
const CANARY: &str =
    "run `cargo npugate kernel --smoke --device xrt` for a quick check that it computes";

/// Checks the NPU's state in the kernel, and the log.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let signs = machine.log_lines(&SIGNS);
    let status = npu.runtime_status.as_deref();
    let fix = "reload the module (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`); if that hangs or fails, turn the machine off, and on again after a while";
    if status == Some("error") {
        return Finding::problem("the kernel could not resume or suspend the NPU", fix)
            .with(["power/runtime_status is error"])
            .with(signs);
    }
    if !signs.is_empty() {
        return Finding::warning(
            "the NPU has failed to respond to the driver since the machine booted",
            format!("{CANARY}; if it does not, {fix}"),
        )
        .with(signs);
    }
    if machine.log.is_none() {
        return Finding::unknown(
            "this user cannot read the kernel's log, which would show failures",
            format!("run `sudo dmesg | grep amdxdna` to see it; {CANARY}"),
        );
    }
    Finding::ok("the kernel's log shows no failure")
        .with(status.map(|status| format!("power/runtime_status is {status}")))
}

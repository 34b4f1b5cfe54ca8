//! The NPU is not stuck in an earlier failure, which only loading the module again or
//! switching the power off ends.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// What the driver writes then: commands that the firmware does not answer (62 is
/// ETIME, 5 EIO), and a resume that fails.
const SIGNS: [&str; 6] = [
    "firmware is not alive",
    "ret -62",
    "ret -5",
    "failed to resume",
    "Resume failed",
    "timed out",
];

/// What one run would say more.
const CANARY: &str =
    "`cargo npugate kernel --smoke --device xrt` is a quick look at whether it computes";

/// Looks at the kernel's view of it and at the log.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let signs = machine.log_lines(&SIGNS);
    let status = npu.runtime_status.as_deref();
    let fix = "load the module again (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`); if that hangs or fails, switch the machine off, and on again after a while";
    if status == Some("error") {
        return Finding::problem("the kernel could not wake the NPU or put it to sleep", fix)
            .with(["power/runtime_status is error"])
            .with(signs);
    }
    if !signs.is_empty() {
        return Finding::warning(
            "the driver had no answer from the NPU since the machine was booted",
            format!("{CANARY}; if it does not, {fix}"),
        )
        .with(signs);
    }
    if machine.log.is_none() {
        return Finding::unknown(
            "the kernel's log, which would tell of failures, cannot be read by this user",
            format!("`sudo dmesg | grep amdxdna` prints it; {CANARY}"),
        );
    }
    Finding::ok("the kernel's log tells of no failure")
        .with(status.map(|status| format!("power/runtime_status is {status}")))
}

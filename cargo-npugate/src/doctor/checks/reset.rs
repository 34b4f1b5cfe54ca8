//! The driver leaves kernels the time that they take: it resets the device when a run
//! takes longer (TDR).

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// What the driver waits by default, in milliseconds.
const DEFAULT: u64 = 2000;

/// Looks at the module's parameter.
pub fn examine(machine: &Machine, _: &Npu) -> Finding {
    let module = "the module's parameter tdr_timeout_ms (timeout_in_sec in older drivers)";
    match machine.driver.reset_after {
        Some(0) => Finding::warning(
            "the driver never ends a run: one that hangs keeps the NPU until the machine is booted again",
            "set it to the default: `options amdxdna tdr_timeout_ms=2000` in /etc/modprobe.d/amdxdna.conf, then load the module again",
        ),
        Some(time) if time < DEFAULT => Finding::warning(
            format!("the driver ends a run after {time} ms, less than the {DEFAULT} ms of its default"),
            "take `tdr_timeout_ms` out of /etc/modprobe.d, then load the module again",
        ),
        Some(time) => Finding::ok(format!("the driver ends a run after {time} ms")),
        None => Finding::unknown(
            "how long the driver lets a run take cannot be read; 2 s is usual, 16 s in older drivers",
            format!("a kernel that takes longer ends in a device timeout: raise {module}"),
        ),
    }
    .with(machine.driver.reset_after.map(|_| format!("read from {module}")))
}

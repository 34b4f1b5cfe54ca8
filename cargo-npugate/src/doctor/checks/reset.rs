//! The driver gives kernels enough time: it resets the device when a run takes longer
//! than its limit (TDR).

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;

/// The driver's default limit, in milliseconds.
const DEFAULT: u64 = 2000;

/// Checks the module's parameter.
pub fn examine(machine: &Machine, _: &Npu) -> Finding {
    let module = "the module's parameter tdr_timeout_ms (timeout_in_sec in older drivers)";
    match machine.driver.reset_after {
        Some(0) => Finding::warning(
            "the driver never ends a run: one that hangs keeps the NPU until the machine is rebooted",
            "set the default with `options amdxdna tdr_timeout_ms=2000` in /etc/modprobe.d/amdxdna.conf, then reload the module",
        ),
        Some(time) if time < DEFAULT => Finding::warning(
            format!("the driver ends a run after {time} ms, less than the default of {DEFAULT} ms"),
            "remove `tdr_timeout_ms` from /etc/modprobe.d, then reload the module",
        ),
        Some(time) => Finding::ok(format!("the driver ends a run after {time} ms")),
        None => Finding::unknown(
            "cannot read how long the driver lets a run take; 2 s is usual, 16 s in older drivers",
            format!("if a kernel takes longer and ends in a device timeout, raise {module}"),
        ),
    }
    .with(machine.driver.reset_after.map(|_| format!("read from {module}")))
}

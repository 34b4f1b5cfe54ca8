//! The NPU runs at the speed of published measurements.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use npugate_xrt::PowerMode;

const SUPPLIES: &str = "/sys/class/power_supply";

/// Checks the power mode and the source of power.
pub fn examine(machine: &Machine, npu: &Npu) -> Finding {
    let configure =
        format!("run `sudo xrt-smi configure -d {} --pmode turbo` to set it", npu.address);
    let mode = machine.node.as_ref().and_then(|node| node.answers()?.power);
    let mode = mode.map(PowerMode::as_str);
    let evidence = mode.iter().map(|mode| format!("power mode {mode}")).collect::<Vec<_>>();
    if on_battery(machine) {
        return Finding::warning(
            "this machine runs on battery, which slows the NPU",
            "plug it in before you measure",
        )
        .with(evidence);
    }
    match mode {
        Some(mode @ ("turbo" | "performance")) => {
            Finding::ok(format!("the power mode is `{mode}`, which suits measurements"))
        }
        Some("powersaver") => Finding::warning("the power mode is `powersaver`", configure),
        Some(mode) => {
            Finding::ok(format!("the power mode is `{mode}`; published figures use `turbo`"))
        }
        None => Finding::unknown(
            "cannot read the power mode",
            format!("run `xrt-smi examine -d {} -r platform` to see it; {configure}", npu.address),
        ),
    }
    .with(evidence)
}

fn on_battery(machine: &Machine) -> bool {
    let system = &machine.system;
    let mains: Vec<_> = system
        .names(SUPPLIES)
        .into_iter()
        .filter(|name| system.text(format!("{SUPPLIES}/{name}/type")).as_deref() == Some("Mains"))
        .filter_map(|name| system.text(format!("{SUPPLIES}/{name}/online")))
        .collect();
    !mains.is_empty() && mains.iter().all(|online| online == "0")
}

//! The NPU of a machine in a few lines: `cargo npugate device`.

use super::generation::Generation;
use super::machine::Machine;
use npugate_schema::{DEVICE_REPORT_SCHEMA, DeviceReport, NpuReport};

/// What is known about the NPU; `xrt-smi examine` may know more.
pub fn describe(machine: &Machine) -> DeviceReport {
    let npu = machine.npu().map(|npu| {
        let answers = machine.node.as_ref().and_then(|node| node.answers());
        let interface = answers.and_then(|answers| answers.interface);
        NpuReport {
            name: Some(npu.title()),
            address: npu.address.clone(),
            pci_id: npu.pci_id(),
            revision: format!("{:02x}", npu.revision),
            generation: npu.generation.map(|generation| generation.as_str().to_owned()),
            architecture: npu.generation.map(|generation| generation.architecture().to_owned()),
            columns: npu.generation.and_then(Generation::columns),
            contexts: npu.generation.and_then(Generation::contexts),
            node: machine.system.exists(npu.node()).then(|| npu.node()),
            firmware: npu.firmware.clone(),
            driver: npu.driver.clone(),
            driver_version: machine.driver.version.clone(),
            driver_interface: interface.map(|interface| interface.to_string()),
            kernel: machine.driver.kernel.clone(),
            xrt: machine.xrt.as_ref().and_then(|xrt| xrt.version).map(|of| of.to_string()),
            power_mode: answers
                .and_then(|answers| answers.power)
                .map(|mode| mode.as_str().to_owned()),
            holder: machine.holder().1.ok().flatten(),
        }
    });
    DeviceReport { schema: DEVICE_REPORT_SCHEMA.to_owned(), npu }
}

//! What `cargo npugate device --json` prints: the NPU of this machine. Unknown values are
//! left out.

use crate::Holder;
use serde::{Deserialize, Serialize};

/// Version of the report.
pub const DEVICE_REPORT_SCHEMA: &str = "npugate-device/1";

/// The NPU of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct DeviceReport {
    /// [`DEVICE_REPORT_SCHEMA`].
    #[cfg_attr(any(test, feature = "json-schema"), schemars(extend("const" = DEVICE_REPORT_SCHEMA)))]
    pub schema: String,
    /// The NPU, or null if there is none.
    pub npu: Option<NpuReport>,
}

/// An NPU.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NpuReport {
    /// What its driver calls it: `NPU Strix Halo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it is on the PCI bus: `0000:c5:00.1`.
    pub address: String,
    /// Vendor and device: `1022:17f0`.
    pub pci_id: String,
    /// Its revision: `11`, hexadecimal.
    pub revision: String,
    /// Its generation, as MLIR-AIR calls it: `npu2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// The architecture of its cores: `aie2p`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Columns that a program can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u32>,
    /// The number of hardware contexts that can exist at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<u32>,
    /// Its device node, if there is one: `/dev/accel/accel0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The version of its firmware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The driver that it is bound to: `amdxdna`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The version of that driver's module, if it has one: modules from the kernel's own
    /// tree do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_version: Option<String>,
    /// The version of that driver's interface: `0.6`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_interface: Option<String>,
    /// The kernel's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The version of XRT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xrt: Option<String>,
    /// The power mode: `turbo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_mode: Option<String>,
    /// Who holds the lock on it; left out if nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_of_a_device_are_left_out() {
        let npu = NpuReport {
            address: "0000:c5:00.1".into(),
            pci_id: "1022:17f0".into(),
            revision: "11".into(),
            ..NpuReport::default()
        };
        let report = DeviceReport { schema: DEVICE_REPORT_SCHEMA.into(), npu: Some(npu) };
        let text = r#"{"schema":"npugate-device/1","npu":{"address":"0000:c5:00.1","pci_id":"1022:17f0","revision":"11"}}"#;
        assert_eq!(serde_json::to_string(&report).unwrap(), text);
        assert_eq!(serde_json::from_str::<DeviceReport>(text).unwrap(), report);
    }
}

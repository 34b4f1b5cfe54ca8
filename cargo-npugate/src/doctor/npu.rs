//! The NPU as the PCI bus shows it.

use super::generation::{AMD, Generation, Known, known};
use super::system::System;

const DEVICES: &str = "/sys/bus/pci/devices";

/// An NPU on the PCI bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Npu {
    /// Its address, such as `0000:c5:00.1`.
    pub address: String,
    /// The device's id.
    pub device: u16,
    /// Its revision.
    pub revision: u8,
    /// Its generation, if the revision is known.
    pub generation: Option<Generation>,
    /// Its marketing name, if the revision is known.
    pub family: Option<&'static str>,
    /// The driver's name for it (`vbnv`).
    pub name: Option<String>,
    /// The version of the firmware that its driver loaded.
    pub firmware: Option<String>,
    /// The driver that it is bound to.
    pub driver: Option<String>,
    /// The name of its node below `/dev/accel`, if its driver made one.
    pub accel: Option<String>,
    /// The number of its IOMMU group.
    pub iommu_group: Option<String>,
    /// Its power state in the kernel: `active`, `suspended`, `error`.
    pub runtime_status: Option<String>,
}

impl Npu {
    /// All NPUs of the machine, by address.
    pub fn find(system: &System) -> Vec<Self> {
        let addresses = system.names(DEVICES).into_iter();
        addresses.filter_map(|address| Self::at(system, address)).collect()
    }

    fn at(system: &System, address: String) -> Option<Self> {
        let folder = format!("{DEVICES}/{address}");
        let text = |name: &str| system.text(format!("{folder}/{name}"));
        let number =
            |name: &str| u16::from_str_radix(text(name)?.trim_start_matches("0x"), 16).ok();
        let device = number("device").filter(|_| number("vendor") == Some(AMD))?;
        let revision = u8::try_from(number("revision")?).ok()?;
        let (generation, family) = match known(device, revision) {
            Known::Npu(generation, family) => (Some(generation), Some(family)),
            Known::UnknownRevision => (None, None),
            Known::Other => return None,
        };
        let link = |name: &str| system.link_name(format!("{folder}/{name}"));
        let accel = system.names(format!("{folder}/accel"));
        let (driver, iommu_group) = (link("driver"), link("iommu_group"));
        Some(Self {
            name: text("vbnv").filter(|name| !name.is_empty()),
            firmware: text("fw_version").filter(|version| !version.is_empty()),
            accel: accel.into_iter().find(|name| name.starts_with("accel")),
            runtime_status: text("power/runtime_status"),
            address,
            device,
            revision,
            generation,
            family,
            driver,
            iommu_group,
        })
    }

    /// `1022:17f0`.
    pub fn pci_id(&self) -> String {
        format!("{AMD:04x}:{:04x}", self.device)
    }

    /// Its name, by its driver or by its id.
    pub fn title(&self) -> String {
        match (&self.name, self.family) {
            (Some(name), _) => name.clone(),
            (None, Some(family)) => format!("NPU {family}"),
            (None, None) => "an AMD NPU".to_owned(),
        }
    }

    /// The folder of its firmware below `amdnpu`, such as `17f0_11`.
    pub fn firmware_folder(&self) -> String {
        format!("{:04x}_{:02x}", self.device, self.revision)
    }

    /// Whether it is bound to amdxdna.
    pub fn is_bound(&self) -> bool {
        self.driver.as_deref() == Some(super::driver::MODULE)
    }

    /// Its device node.
    pub fn node(&self) -> String {
        format!("/dev/accel/{}", self.accel.as_deref().unwrap_or("accel0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::tree::{ADDRESS, Tree};

    #[test]
    fn an_npu_is_found_among_other_devices() {
        let tree = Tree::strix_halo()
            .file("/sys/bus/pci/devices/0000:00:00.0/vendor", "0x1022\n")
            .file("/sys/bus/pci/devices/0000:00:00.0/device", "0x1507\n")
            .file("/sys/bus/pci/devices/0000:00:00.0/revision", "0x00\n")
            .file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n")
            .file("/sys/bus/pci/devices/0000:01:00.0/device", "0x17f0\n")
            .file("/sys/bus/pci/devices/0000:01:00.0/revision", "0x11\n");
        let [npu] = Npu::find(&tree.system()).try_into().unwrap();
        assert_eq!((npu.address.as_str(), npu.pci_id().as_str()), (ADDRESS, "1022:17f0"));
        assert_eq!((npu.revision, npu.generation), (0x11, Some(Generation::Npu2)));
        assert_eq!(
            (npu.title().as_str(), npu.node().as_str()),
            ("NPU Strix Halo", "/dev/accel/accel0")
        );
        assert_eq!((npu.firmware.as_deref(), npu.is_bound()), (Some("1.0.0.166"), true));
        assert_eq!(
            (npu.firmware_folder().as_str(), npu.iommu_group.as_deref()),
            ("17f0_11", Some("24"))
        );
    }

    #[test]
    fn a_device_whose_revision_is_not_a_number_is_not_an_npu() {
        let tree = Tree::strix_halo().file(&format!("{DEVICES}/{ADDRESS}/revision"), "new\n");
        assert_eq!(Npu::find(&tree.system()), []);
    }
}

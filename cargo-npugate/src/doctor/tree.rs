//! Machines for tests: folders with the files that Linux has.

use super::system::System;
use npugate_xrt::{SHIM_NAME, XrtVersion, setup};
use std::{fs, path::Path};
use tempfile::TempDir;

/// The address of the NPU in these machines.
pub const ADDRESS: &str = "0000:c5:00.1";
/// The folder of XRT on the healthy machine.
pub const LIB: &str = "/usr/lib/x86_64-linux-gnu";

/// The path of the shim for an XRT.
pub fn shim(xrt: XrtVersion) -> String {
    let folder = setup::folder(Path::new("/home/me/.cache/npugate"), xrt);
    folder.join(SHIM_NAME).display().to_string()
}

/// A folder that looks like a machine.
pub struct Tree {
    folder: TempDir,
}

impl Tree {
    /// A machine without any files.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A laptop with a Strix Halo, on which all is well.
    pub fn strix_halo() -> Self {
        let npu = format!("/sys/bus/pci/devices/{ADDRESS}");
        let shim = shim(XrtVersion::new(2, 25, 0));
        Self::new()
            .variable("HOME", "/home/me")
            .file("/proc/sys/kernel/osrelease", "7.0.4-amd64\n")
            .file("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 quiet\n")
            .file("/proc/cpuinfo", "model name\t: AMD RYZEN AI MAX+ 395\nflags\t\t: fpu avx2\n")
            .file(
                "/proc/self/limits",
                "Max locked memory         unlimited            unlimited            bytes\n",
            )
            .file("/proc/self/status", "CapEff:\t0000000000000000\n")
            .file("/proc/locks", "")
            .file(
                "/dev/kmsg",
                "6,900,1,-;amdxdna 0000:c5:00.1: [drm] Load firmware amdnpu/17f0_11/npu_7.sbin\n",
            )
            .file("/dev/accel/accel0", "interface 0.7\npower turbo\n")
            .file(&format!("{npu}/vendor"), "0x1022\n")
            .file(&format!("{npu}/device"), "0x17f0\n")
            .file(&format!("{npu}/revision"), "0x11\n")
            .file(&format!("{npu}/vbnv"), "NPU Strix Halo\n")
            .file(&format!("{npu}/fw_version"), "1.0.0.166\n")
            .file(&format!("{npu}/power/runtime_status"), "suspended\n")
            .file(&format!("{npu}/accel/accel0/dev"), "261:0\n")
            .link(&format!("{npu}/driver"), "../../../../bus/pci/drivers/amdxdna")
            .link(&format!("{npu}/iommu_group"), "../../../../kernel/iommu_groups/24")
            .file("/sys/kernel/iommu_groups/24/type", "DMA-FQ\n")
            .file("/sys/module/amdxdna/parameters/tdr_timeout_ms", "2000\n")
            .file("/sys/class/power_supply/AC0/type", "Mains\n")
            .file("/sys/class/power_supply/AC0/online", "1\n")
            .file("/lib/firmware/amdnpu/17f0_11/npu_7.sbin.zst", "")
            .file(&format!("{LIB}/libxrt_coreutil.so.2.25.0"), "")
            .link(&format!("{LIB}/libxrt_coreutil.so.2"), "libxrt_coreutil.so.2.25.0")
            .file(&format!("{LIB}/libxrt_driver_xdna.so.2.25.0"), "")
            .link(&format!("{LIB}/libxrt_driver_xdna.so.2"), "libxrt_driver_xdna.so.2.25.0")
            .file(&shim, "")
    }

    /// The same with a file of the NPU's folder on the PCI bus.
    pub fn npu(self, name: &str, text: &str) -> Self {
        self.file(&format!("/sys/bus/pci/devices/{ADDRESS}/{name}"), text)
    }

    /// The same with this file.
    pub fn file(self, path: &str, text: &str) -> Self {
        let to = self.make(path);
        fs::write(to, text).unwrap();
        self
    }

    /// The same with this link, which replaces what was there.
    pub fn link(self, path: &str, target: &str) -> Self {
        let to = self.make(path);
        let _ = fs::remove_file(&to);
        std::os::unix::fs::symlink(target, to).unwrap();
        self
    }

    /// The same with this variable of the environment.
    pub fn variable(self, name: &str, value: &str) -> Self {
        let path = "/proc/self/environ";
        let before = self.system().text(path).unwrap_or_default();
        self.file(path, &format!("{before}{name}={value}\0"))
    }

    /// The same without a file, a link or a folder, which must exist.
    pub fn without(self, path: &str) -> Self {
        let gone = self.system().path(path);
        let metadata = fs::symlink_metadata(&gone).unwrap();
        if metadata.is_dir() {
            fs::remove_dir_all(gone).unwrap();
        } else {
            fs::remove_file(gone).unwrap();
        }
        self
    }

    /// The machine.
    pub fn system(&self) -> System {
        System::new(Some(self.root().to_owned()))
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    fn make(&self, path: &str) -> std::path::PathBuf {
        let to = self.system().path(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        to
    }
}

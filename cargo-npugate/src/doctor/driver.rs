//! The kernel and its module for the NPU.

use super::system::System;

/// The name of the module and of its driver.
pub const MODULE: &str = "amdxdna";

/// Where a module may be below `/lib/modules/RELEASE`.
const PLACES: [&str; 4] = ["kernel/drivers/accel/amdxdna", "updates/dkms", "updates", "extra"];

/// The kernel and the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Driver {
    /// The kernel's release: `6.18.3-amd64`.
    pub kernel: Option<String>,
    /// Whether the module is loaded or installed.
    pub module: Module,
    /// The module's own version; modules of the kernel's tree have none.
    pub version: Option<String>,
    /// How long a run may take before the driver resets the device, in milliseconds;
    /// 0 is no limit.
    pub reset_after: Option<u64>,
    /// A file that prevents the module from being loaded.
    pub blacklist: Option<String>,
    /// Set if the kernel refuses unsigned modules.
    pub lockdown: Option<String>,
}

/// The state of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Module {
    /// It is loaded.
    Loaded,
    /// It is installed as this file, but not loaded.
    File(String),
    /// None was found for this kernel.
    Missing,
}

/// A kernel's version.
pub type Release = (u32, u32);

impl Driver {
    /// Reads the state of the kernel and its module.
    pub fn look(system: &System) -> Self {
        let kernel = system.text("/proc/sys/kernel/osrelease");
        let module = if system.exists(format!("/sys/module/{MODULE}")) {
            Module::Loaded
        } else {
            let file = kernel.as_deref().and_then(|kernel| file(system, kernel));
            file.map_or(Module::Missing, Module::File)
        };
        let parameter = |name: &str| {
            let value = system.text(format!("/sys/module/{MODULE}/parameters/{name}"))?;
            value.parse::<u64>().ok()
        };
        // Current drivers count in milliseconds, those of 2024 and 2025 in seconds.
        let reset_after = parameter("tdr_timeout_ms")
            .or_else(|| parameter("timeout_in_sec").map(|seconds| seconds.saturating_mul(1000)));
        Self {
            version: system.text(format!("/sys/module/{MODULE}/version")),
            blacklist: blacklist(system),
            lockdown: lockdown(system),
            kernel,
            module,
            reset_after,
        }
    }

    /// The kernel's version: 6.14 is the first with the module.
    pub fn release(&self) -> Option<Release> {
        let mut numbers = self.kernel.as_deref()?.split(['.', '-']);
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

fn file(system: &System, kernel: &str) -> Option<String> {
    PLACES.iter().find_map(|place| {
        let folder = format!("/lib/modules/{kernel}/{place}");
        let name = system
            .names(&folder)
            .into_iter()
            .find(|name| name.strip_prefix(MODULE).is_some_and(|rest| rest.starts_with(".ko")))?;
        Some(format!("{folder}/{name}"))
    })
}

fn blacklist(system: &System) -> Option<String> {
    ["/etc/modprobe.d", "/usr/lib/modprobe.d"].into_iter().find_map(|folder| {
        let names = system.names(folder).into_iter();
        let mut files = names.map(|name| format!("{folder}/{name}"));
        files.find(|file| {
            let text = system.text(file).unwrap_or_default();
            text.lines().any(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some("blacklist") && words.next() == Some(MODULE)
            })
        })
    })
}

/// The mode in brackets: `none [integrity] confidentiality`.
fn lockdown(system: &System) -> Option<String> {
    let text = system.text("/sys/kernel/security/lockdown")?;
    let (_, rest) = text.split_once('[')?;
    let (mode, _) = rest.split_once(']')?;
    (mode != "none").then(|| mode.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::tree::Tree;

    fn look(tree: &Tree) -> Driver {
        Driver::look(&tree.system())
    }

    #[test]
    fn a_module_is_loaded_or_a_file_or_missing() {
        let unloaded = || Tree::strix_halo().without("/sys/module/amdxdna");
        assert_eq!(look(&Tree::strix_halo()).module, Module::Loaded);
        assert_eq!(look(&unloaded()).module, Module::Missing);
        let path = "/lib/modules/7.0.4-amd64/updates/dkms/amdxdna.ko.zst";
        assert_eq!(look(&unloaded().file(path, "")).module, Module::File(path.into()));
        // The module of another kernel does not count.
        let other = "/lib/modules/6.12.1/updates/dkms/amdxdna.ko.zst";
        assert_eq!(look(&unloaded().file(other, "")).module, Module::Missing);
    }

    #[test]
    fn both_parameters_for_the_reset_are_milliseconds() {
        let parameters = "/sys/module/amdxdna/parameters";
        assert_eq!(look(&Tree::strix_halo()).reset_after, Some(2000));
        let older = Tree::strix_halo()
            .without(&format!("{parameters}/tdr_timeout_ms"))
            .file(&format!("{parameters}/timeout_in_sec"), "16\n");
        assert_eq!(look(&older).reset_after, Some(16_000));
        assert_eq!(look(&Tree::new()).reset_after, None);
    }

    #[test]
    fn what_prevents_a_module_from_loading_is_found() {
        let file = "/etc/modprobe.d/npu.conf";
        let driver = look(&Tree::new().file(file, "# no\nblacklist amdxdna\n"));
        assert_eq!(driver.blacklist.as_deref(), Some(file));
        assert_eq!(look(&Tree::new().file(file, "blacklist amdxdna_old\n")).blacklist, None);
        let lockdown = "/sys/kernel/security/lockdown";
        let locked = look(&Tree::new().file(lockdown, "none [integrity] confidentiality\n"));
        assert_eq!(locked.lockdown.as_deref(), Some("integrity"));
        assert_eq!(look(&Tree::new().file(lockdown, "[none] integrity\n")).lockdown, None);
    }

    #[test]
    fn the_kernels_release_is_two_numbers() {
        assert_eq!(look(&Tree::strix_halo()).release(), Some((7, 0)));
        let odd = Tree::new().file("/proc/sys/kernel/osrelease", "next\n");
        assert_eq!(look(&odd).release(), None);
    }
}

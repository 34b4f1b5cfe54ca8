//! The folders in which XRT and other programs look for an NPU.
//!
//! Paths below `/sys/bus/pci`, `/sys/devices/pci0000:00`, `/sys/module/amdxdna`, `/sys/class/accel`
//! and `/dev/accel` are looked up below a root: the folder that `FAKE_XDNA_ROOT` names, unchanged,
//! or one that is made here, with the NPU of a Strix Point whose name says "fake".

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, MetadataExt, symlink},
    },
    path::{Path, PathBuf},
    process,
    sync::OnceLock,
};

use crate::log;

/// The device node.
pub const NODE: &[u8] = b"/dev/accel/accel0";

const REDIRECTED: [&[u8]; 5] = [
    b"/sys/bus/pci",
    b"/sys/devices/pci0000:00",
    b"/sys/module/amdxdna",
    b"/sys/class/accel",
    b"/dev/accel",
];

/// The device's folder, and the content of its files.
const DEVICE: &str = "sys/devices/pci0000:00/0000:00:08.2/0000:c5:00.1";
const FILES: [(&str, &str); 8] = [
    ("device_type", "0"),
    ("vendor", "0x1022"),
    ("device", "0x17f0"),
    ("revision", "0x10"),
    ("class", "0x118000"),
    ("vbnv", "RyzenAI-npu4 (fake)"),
    ("fw_version", "1.1.2.65"),
    ("irq", "0"),
];

/// The driver's version, as its module reports it.
const DRIVER: &str = "0.6.0 (fake)";

/// The path that is used instead, if the path is one of the driver's.
pub fn redirect(path: &[u8]) -> Option<PathBuf> {
    let below = |prefix: &&[u8]| {
        path.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    };
    // Checked first, since making the tree opens other paths, which get here too.
    REDIRECTED.iter().find(|prefix| below(prefix))?;
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    Some(root()?.join(path.strip_prefix("/").ok()?))
}

/// The folder below which paths are looked up.
pub fn root() -> Option<&'static Path> {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    ROOT.get_or_init(|| match env::var_os("FAKE_XDNA_ROOT") {
        Some(root) => Some(fs::canonicalize(&root).unwrap_or_else(|_| root.into())),
        None => own_tree()
            .inspect_err(|error| {
                log::complain(format_args!("no folder for the fake device: {error}"));
            })
            .ok(),
    })
    .as_deref()
}

/// Makes the tree unless it exists: the processes of a user share it.
fn own_tree() -> io::Result<PathBuf> {
    // SAFETY: the call has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = env::temp_dir();
    // Another build of the fake may make another tree.
    let mut hasher = DefaultHasher::new();
    (DEVICE, DRIVER, FILES).hash(&mut hasher);
    let tree = folder.join(format!("fake-amdxdna-{user}-{:016x}", hasher.finish()));
    if fs::symlink_metadata(&tree).is_err() {
        let draft = folder.join(format!("fake-amdxdna-{user}-draft-{}", process::id()));
        // Left over from an earlier process with this id.
        if fs::symlink_metadata(&draft).is_ok() {
            fs::remove_dir_all(&draft)?;
        }
        fs::DirBuilder::new().mode(0o700).create(&draft)?;
        make_tree(&draft)?;
        // Another process may have been faster.
        if fs::rename(&draft, &tree).is_err() {
            fs::remove_dir_all(&draft)?;
        }
    }
    let metadata = fs::symlink_metadata(&tree)?;
    if metadata.is_dir() && metadata.uid() == user {
        fs::canonicalize(tree)
    } else {
        Err(io::Error::other(format!("{} belongs to another user", tree.display())))
    }
}

/// Writes the tree of a fake NPU below `root`.
fn make_tree(root: &Path) -> io::Result<()> {
    let device = root.join(DEVICE);
    for folder in [
        root.join("dev/accel"),
        device.join("accel/accel0"),
        root.join("sys/bus/pci/drivers/amdxdna"),
        root.join("sys/bus/pci/devices"),
        root.join("sys/module/amdxdna"),
        root.join("sys/class/accel"),
    ] {
        fs::create_dir_all(folder)?;
    }
    for (name, value) in FILES {
        fs::write(device.join(name), format!("{value}\n"))?;
    }
    fs::write(root.join("dev/accel/accel0"), "")?;
    fs::write(root.join("sys/module/amdxdna/version"), format!("{DRIVER}\n"))?;
    let device = DEVICE.trim_start_matches("sys/");
    for (link, up) in [
        ("sys/bus/pci/drivers/amdxdna/0000:c5:00.1", "../../../.."),
        ("sys/bus/pci/devices/0000:c5:00.1", "../../.."),
    ] {
        symlink(format!("{up}/{device}"), root.join(link))?;
    }
    symlink(format!("../../{device}/accel/accel0"), root.join("sys/class/accel/accel0"))?;
    symlink("../../../../bus/pci/drivers/amdxdna", root.join(DEVICE).join("driver"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_a_device_that_says_that_it_is_a_fake() {
        let root = tempfile::tempdir().unwrap();
        make_tree(root.path()).unwrap();
        let device = root.path().join("sys/bus/pci/drivers/amdxdna/0000:c5:00.1");
        let name = fs::read_to_string(device.join("vbnv")).unwrap();
        assert_eq!(name, "RyzenAI-npu4 (fake)\n");
        assert!(device.join("accel/accel0").is_dir());
        assert!(root.path().join("sys/class/accel/accel0").is_dir());
    }

    #[test]
    fn only_the_drivers_own_paths_are_redirected() {
        for path in ["/sys/bus/pci", "/dev/accel/accel0", "/sys/module/amdxdna/version"] {
            let redirected = redirect(path.as_bytes()).unwrap();
            assert!(redirected.ends_with(&path[1..]), "{}", redirected.display());
        }
        for path in ["/sys/bus/pcie", "/dev/accelerator", "/sys/module/amdgpu", "", "sys/bus/pci"] {
            assert_eq!(redirect(path.as_bytes()), None, "{path}");
        }
    }
}

//! The installed XRT: its libraries, and npugate's shim for them.

use super::system::System;
use npugate_xrt::{SHIM_VAR, XrtVersion, setup};

/// The library that programs load.
pub const CORE: &str = "libxrt_coreutil.so.2";
/// The library for NPUs. XRT loads every `libxrt_driver_*.so.2` beside its core
/// (`module_loader.cpp`), and finds no device without one.
pub const DRIVER: &str = "libxrt_driver_xdna.so.2";

/// Folders of libraries, which come after those that the environment names: of AMD's packages,
/// Debian and Ubuntu, Fedora, Arch, and local builds.
const FOLDERS: [&str; 6] = [
    "/opt/xilinx/xrt/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib64",
    "/usr/local/lib",
];

/// XRT on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Xrt {
    /// The folder of its core library.
    pub folder: String,
    /// Its version, if a file says it.
    pub version: Option<XrtVersion>,
    /// The driver library beside it.
    pub driver: DriverLibrary,
}

/// The library for NPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DriverLibrary {
    /// It is beside the core, with its version if its name says it.
    Beside(Option<XrtVersion>),
    /// It is in another folder, where XRT does not look.
    Elsewhere(String),
    /// There is no such library.
    Missing,
}

/// npugate's shim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shim {
    /// It has not been built.
    Missing,
    /// The variable names a file that does not exist.
    NotThere(String),
    /// Shims, each with the version of XRT that it was built for, if that is known.
    Built(Vec<(String, Option<XrtVersion>)>),
}

impl Xrt {
    /// The first XRT, in the order in which a program searches for it.
    pub fn find(system: &System) -> Option<Self> {
        let folders = folders(system);
        let has = |folder: &String, library: &str| system.exists(format!("{folder}/{library}"));
        let folder = folders.iter().find(|folder| has(folder, CORE))?.clone();
        let driver = if has(&folder, DRIVER) {
            DriverLibrary::Beside(version(system, &folder, DRIVER))
        } else {
            let elsewhere = folders.into_iter().find(|folder| has(folder, DRIVER));
            elsewhere.map_or(DriverLibrary::Missing, DriverLibrary::Elsewhere)
        };
        let version = version(system, &folder, CORE).or_else(|| written_version(system, &folder));
        Some(Self { folder, version, driver })
    }
}

impl Shim {
    /// Looks where `cargo npugate setup xrt` puts it. A shim from another source, which another
    /// version of npugate built, does not count.
    pub fn find(system: &System) -> Self {
        if let Some(path) = system.variable(SHIM_VAR) {
            let there = system.exists(&path);
            return if there { Self::Built(vec![(path, None)]) } else { Self::NotThere(path) };
        }
        let cache = system.variable("XDG_CACHE_HOME").filter(|path| path.starts_with('/'));
        let cache = cache.or_else(|| system.variable("HOME").map(|home| format!("{home}/.cache")));
        let Some(cache) = cache.map(|cache| format!("{cache}/npugate")) else {
            return Self::Missing;
        };
        let found = setup::find_installed_in(&system.path(&cache)).into_iter();
        let built: Vec<_> =
            found.map(|found| (system.shown(&found.shim), Some(found.xrt))).collect();
        if built.is_empty() { Self::Missing } else { Self::Built(built) }
    }
}

/// The folders to search for libraries.
fn folders(system: &System) -> Vec<String> {
    let mut folders: Vec<String> = system.variable("NPUGATE_XRT_LIB").into_iter().collect();
    folders.extend(system.variable("XILINX_XRT").map(|xrt| format!("{xrt}/lib")));
    let paths = system.variable("LD_LIBRARY_PATH").unwrap_or_default();
    folders.extend(paths.split(':').filter(|path| path.starts_with('/')).map(str::to_owned));
    folders.extend(FOLDERS.map(str::to_owned));
    folders
}

/// The version in a library's full name, such as `libxrt_coreutil.so.2.25.0`.
fn version(system: &System, folder: &str, library: &str) -> Option<XrtVersion> {
    let (stem, _) = library.rsplit_once('.')?;
    let prefix = format!("{stem}.");
    let full = system.link_name(format!("{folder}/{library}"));
    let names = full.into_iter().chain(system.names(folder));
    names
        .filter_map(|name| name.strip_prefix(&prefix).map(str::to_owned))
        .filter(|numbers| numbers.contains('.'))
        .find_map(|numbers| numbers.parse().ok())
}

/// The version that AMD's packages put beside their libraries.
fn written_version(system: &System, folder: &str) -> Option<XrtVersion> {
    let text = system.text(format!("{folder}/../version.json"))?;
    let json: serde_json::Value = serde_json::from_str(&text).ok()?;
    json.get("BUILD_VERSION")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::tree::{LIB, Tree};

    fn find(tree: &Tree) -> Option<Xrt> {
        Xrt::find(&tree.system())
    }

    fn version(text: &str) -> XrtVersion {
        text.parse().unwrap()
    }

    #[test]
    fn xrt_is_found_with_its_version_and_the_library_beside_it() {
        let xrt = find(&Tree::strix_halo()).unwrap();
        let driver = DriverLibrary::Beside(Some(version("2.25.0")));
        assert_eq!((xrt.folder.as_str(), xrt.version), (LIB, Some(version("2.25.0"))));
        assert_eq!(xrt.driver, driver);
        assert_eq!(find(&Tree::new()), None);
    }

    #[test]
    fn the_version_of_an_amd_package_is_in_a_file() {
        let tree = Tree::new()
            .file("/opt/xilinx/xrt/lib/libxrt_coreutil.so.2", "")
            .file("/opt/xilinx/xrt/version.json", r#"{"BUILD_VERSION":"2.20.0"}"#);
        let xrt = find(&tree).unwrap();
        assert_eq!((xrt.version, xrt.driver), (Some(version("2.20.0")), DriverLibrary::Missing));
    }

    #[test]
    fn the_folder_in_the_environment_comes_first() {
        let tree = Tree::strix_halo()
            .variable("XILINX_XRT", "/home/me/xrt")
            .file("/home/me/xrt/lib/libxrt_coreutil.so.2.21.5", "")
            .link("/home/me/xrt/lib/libxrt_coreutil.so.2", "libxrt_coreutil.so.2.21.5");
        let xrt = find(&tree).unwrap();
        assert_eq!(
            (xrt.folder.as_str(), xrt.version),
            ("/home/me/xrt/lib", Some(version("2.21.5")))
        );
        assert_eq!(xrt.driver, DriverLibrary::Elsewhere(LIB.into()));
    }

    #[test]
    fn the_shim_is_in_the_cache_or_where_the_variable_says() {
        let find = |tree: &Tree| Shim::find(&tree.system());
        let Shim::Built(built) = find(&Tree::strix_halo()) else { panic!() };
        assert_eq!(built.len(), 1);
        assert_eq!(built[0].1, Some(version("2.25.0")));
        assert_eq!(find(&Tree::new()), Shim::Missing);
        let named = Tree::strix_halo().variable(SHIM_VAR, "/home/me/shim.so");
        assert_eq!(find(&named), Shim::NotThere("/home/me/shim.so".into()));
    }
}

//! XRT is complete, and npugate's shim for it is built.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::xrt::{CORE, DRIVER, DriverLibrary, Shim, Xrt};

/// The command that builds the shim.
const SETUP: &str = "`cargo npugate setup xrt`";

/// Checks the libraries.
pub fn examine(machine: &Machine) -> Finding {
    let Some(xrt) = &machine.xrt else { return missing(machine) };
    let folder = &xrt.folder;
    let version = xrt.version.map_or_else(|| "XRT".to_owned(), |version| format!("XRT {version}"));
    let evidence = format!("{folder}/{CORE}");
    match &xrt.driver {
        DriverLibrary::Missing => Finding::problem(
            format!("{version} has no library for NPUs: without {DRIVER} beside {CORE}, it finds 0 devices"),
            "install it (Debian: `libxrt-npu2`; AMD's packages: `xrt_plugin-amdxdna`)",
        ),
        DriverLibrary::Elsewhere(other) => Finding::problem(
            format!("{version} is in {folder}, but its library for NPUs is in {other}: it only looks beside itself, and finds 0 devices"),
            format!("install both from one source, or link {other}/{DRIVER} into {folder}"),
        ),
        DriverLibrary::Beside(_) => shim(machine, xrt, &version),
    }
    .with([evidence])
}

fn missing(machine: &Machine) -> Finding {
    if machine.npu().is_none() {
        return Finding::not_applicable("there is no XRT, and no NPU that needs one (see pci)");
    }
    Finding::problem(
        format!("XRT is not installed: {CORE} is not in any folder of libraries"),
        format!(
            "install XRT 2.20 or later (Debian: `libxrt2 libxrt-npu2 libxrt-dev`; elsewhere from github.com/amd/xdna-driver), then run {SETUP}; if it is in another folder, set NPUGATE_XRT_LIB"
        ),
    )
}

fn shim(machine: &Machine, xrt: &Xrt, version: &str) -> Finding {
    match &machine.shim {
        Shim::Missing => Finding::problem(
            format!("{version} is complete, but npugate's shim for it is not built"),
            format!("run {SETUP}, which builds it in seconds"),
        ),
        Shim::NotThere(path) => Finding::problem(
            format!("NPUGATE_XRT_SHIM names {path}, which does not exist"),
            format!("unset it and run {SETUP}, or name a shim that exists"),
        ),
        Shim::Built(shims) => {
            let fits = shims.iter().find(|(_, of)| match (of, xrt.version) {
                (Some(of), Some(version)) => of.same_interface(version),
                // An unknown version is checked when the shim is loaded.
                (None, _) | (_, None) => true,
            });
            match fits {
                Some((path, _)) => Finding::ok(format!(
                    "{version} is complete, and npugate's shim for it is built"
                ))
                .with([path]),
                None => Finding::problem(
                    format!("npugate's shim was built for another version than {version}"),
                    format!("run {SETUP} to build it again"),
                )
                .with(shims.iter().map(|(path, _)| path)),
            }
        }
    }
}

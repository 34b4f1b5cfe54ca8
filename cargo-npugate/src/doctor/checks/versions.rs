//! XRT and the driver match.

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use crate::doctor::npu::Npu;
use crate::doctor::xrt::DriverLibrary;
use npugate_xrt::{DriverInterface, MINIMUM_XRT};

/// The first interface with `GET_ARRAY`, which XRT uses since 2025.
const GET_ARRAY: DriverInterface = DriverInterface { major: 0, minor: 1 };

/// Compares versions.
pub fn examine(machine: &Machine, _: &Npu) -> Finding {
    let Some(xrt) = &machine.xrt else {
        return Finding::not_applicable("there is no XRT (see xrt)");
    };
    let driver = match &xrt.driver {
        DriverLibrary::Beside(version) => *version,
        DriverLibrary::Elsewhere(_) | DriverLibrary::Missing => {
            return Finding::not_applicable("XRT has no library for NPUs (see xrt)");
        }
    };
    let Some(version) = xrt.version else {
        return Finding::unknown(
            format!("cannot tell the version of the XRT in {}", xrt.folder),
            "run `xrt-smi --version` to see it",
        );
    };
    let interface = machine.interface();
    let evidence = [
        Some(format!("XRT {version} in {}", xrt.folder)),
        driver.map(|driver| format!("libxrt_driver_xdna {driver}")),
        interface.map(|interface| format!("driver interface {interface}")),
        machine.driver.version.as_ref().map(|version| format!("amdxdna {version}")),
    ];
    let finding = if version < MINIMUM_XRT {
        Finding::problem(
            format!("XRT {version} is too old: npugate needs {MINIMUM_XRT} or later"),
            "install a newer XRT (from Debian sid or github.com/amd/xdna-driver), then run `cargo npugate setup xrt`",
        )
    } else if let Some(driver) = driver.filter(|driver| !driver.same_interface(version)) {
        Finding::problem(
            format!(
                "XRT {version} has the library for NPUs of {driver}: both must be from one release"
            ),
            "install both from one source (`libxrt2` and `libxrt-npu2`, or AMD's `xrt` and `xrt_plugin-amdxdna`)",
        )
    } else if interface.is_some_and(|interface| interface < GET_ARRAY) {
        Finding::warning(
            format!(
                "the driver does not know GET_ARRAY, which XRT {version} uses: some queries fail with error 95"
            ),
            "use a newer kernel, or the driver from github.com/amd/xdna-driver that belongs to this XRT",
        )
    } else if interface.is_none() && machine.driver_is_before_0_6() {
        Finding::warning(
            format!(
                "the driver is older than XRT {version}: requests that it does not know fail with error 95 or 22"
            ),
            "use a newer kernel, or the driver from github.com/amd/xdna-driver that belongs to this XRT",
        )
    } else {
        Finding::ok(format!("XRT {version} and its library for NPUs are from one release"))
    };
    finding.with(evidence.into_iter().flatten())
}

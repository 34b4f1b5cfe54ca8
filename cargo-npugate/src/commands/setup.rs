//! Preparing this machine for a device.

use crate::cli::XrtArgs;
use crate::error::Error;
use crate::shell::{Shell, Tone};
use crate::text;
use npugate_schema::ExitCode;
use npugate_xrt::{
    Library,
    setup::{self, SetupOptions},
};
use std::time::Instant;

/// Builds the library that gives access to XRT, and tries to load it. It is not an error if
/// that fails: the library may have been built for another system's XRT.
///
/// # Errors
///
/// XRT or a compiler is missing, or the library does not compile.
pub fn xrt(args: &XrtArgs, shell: &mut Shell) -> Result<ExitCode, Error> {
    let XrtArgs { xrt_include, xrt_lib } = args.clone();
    let options = SetupOptions { include: xrt_include, lib: xrt_lib, ..SetupOptions::default() };
    let start = Instant::now();
    let installed = setup::run(&options)?;
    let (major, minor) = (installed.xrt.major, installed.xrt.minor);
    shell.status(
        Tone::Good,
        "Built",
        format_args!(
            "{} for XRT {major}.{minor} in {}",
            installed.shim.display(),
            text::duration(start.elapsed().as_secs_f64())
        ),
    );
    match Library::open_at(&installed.shim) {
        Ok(library) => {
            let devices = match library.device_count() {
                Ok(0) => "it sees no NPU: `cargo npugate doctor` looks for the cause".to_owned(),
                Ok(1) => "it sees an NPU".to_owned(),
                Ok(count) => format!("it sees {count} NPUs"),
                Err(error) => error.to_string(),
            };
            shell.status(
                Tone::Good,
                "Loaded",
                format_args!("XRT {}; {devices}", library.version()),
            );
        }
        Err(error) => shell.status_always(Tone::Odd, "Not loaded", error),
    }
    Ok(ExitCode::Ok)
}

//! Compiles and links the shim for the feature `link-xrt`; does nothing without it.

#[cfg(feature = "link-xrt")]
#[path = "src/setup/locate.rs"]
mod locate;

#[cfg(not(feature = "link-xrt"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

#[cfg(feature = "link-xrt")]
fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=src/setup/locate.rs");
    for variable in ["NPUGATE_XRT_INCLUDE", "NPUGATE_XRT_LIB", "XILINX_XRT"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let xrt = match locate::Places::of_this_machine(None, None).find() {
        Ok(xrt) => xrt,
        Err(missing) => {
            println!(
                "cargo::error=the feature `link-xrt` needs XRT, of which this is missing: {missing:?}; install XRT, or turn the feature off"
            );
            return;
        }
    };
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").file("shim/shim.cpp");
    if let Some(include) = xrt.include_flag() {
        build.flag("-isystem").flag(include);
    }
    build.flag("-idirafter").flag("shim/fallback");
    if let Err(error) = build.try_compile("npugate_xrt") {
        println!(
            "cargo::error=the shim does not compile against the XRT in {}: {error}",
            xrt.include.display()
        );
        return;
    }
    if let Some(folder) = xrt.library.parent() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
    println!("cargo::rustc-link-lib=dylib=xrt_coreutil");
}

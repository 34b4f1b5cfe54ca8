//! Building the shim: against a made-up XRT, and against the real one if there is one.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use npugate_xrt::{
    SHIM_NAME, XrtVersion,
    setup::{self, SetupError, SetupOptions},
};
use tempfile::TempDir;

/// A made-up XRT, a cache, and a compiler.
struct Machine {
    root: TempDir,
}

impl Machine {
    /// A machine with an XRT whose headers have this version.
    fn with_xrt(version: &str) -> Self {
        let machine = Self { root: tempfile::tempdir().unwrap() };
        machine.write("include/xrt/xrt_device.h", "");
        let header = format!("#define XRT_VERSION_CODE XRT_VERSION({version})\n");
        machine.write("include/xrt/detail/version-slim.h", &header);
        machine.write("lib/libxrt_coreutil.so", "");
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A compiler that runs this script, in which `$out` is the file to write.
    fn compiler(&self, script: &str) -> PathBuf {
        let text = format!(
            "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n{script}\n"
        );
        self.write("compiler", &text);
        let path = self.path("compiler");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn options(&self, compiler: &Path) -> SetupOptions {
        SetupOptions {
            include: Some(self.path("include")),
            lib: Some(self.path("lib")),
            compiler: Some(compiler.into()),
            cache: Some(self.path("cache")),
        }
    }
}

#[test]
fn a_shim_is_built_into_the_cache_and_found_there() {
    let machine = Machine::with_xrt("2, 25");
    let compiler = machine.compiler("echo built > \"$out\"");
    let installed = setup::run(&machine.options(&compiler)).unwrap();
    assert_eq!(installed.xrt, XrtVersion::new(2, 25, 0));
    assert!(installed.shim.starts_with(machine.path("cache")), "{installed:?}");
    assert_eq!(installed.shim.file_name().unwrap(), SHIM_NAME);
    assert_eq!(fs::read_to_string(&installed.shim).unwrap(), "built\n");
    assert_eq!(setup::find_installed_in(&machine.path("cache")), [installed]);
    let left: Vec<_> = fs::read_dir(machine.path("cache")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_shim_that_does_not_compile_leaves_the_old_one() {
    let machine = Machine::with_xrt("2, 25");
    let good = machine.compiler("echo good > \"$out\"");
    let installed = setup::run(&machine.options(&good)).unwrap();
    let bad = machine.compiler("echo bad > \"$out\"; echo 'shim.cpp:1: error: no' >&2; exit 1");
    let error = setup::run(&machine.options(&bad)).unwrap_err();
    assert!(matches!(error, SetupError::Compile { .. }), "{error}");
    assert!(error.to_string().ends_with("shim.cpp:1: error: no"), "{error}");
    assert_eq!(fs::read_to_string(&installed.shim).unwrap(), "good\n");
}

#[test]
fn what_is_missing_is_reported_with_how_to_install_it() {
    let machine = Machine::with_xrt("2, 25");
    let compiler = machine.compiler("exit 1");
    let error = setup::run(&machine.options(Path::new("no-such-compiler"))).unwrap_err();
    assert!(matches!(&error, SetupError::NoCompiler { tried } if *tried == ["no-such-compiler"]));
    assert!(error.to_string().contains("sudo apt install g++"), "{error}");

    fs::remove_file(machine.path("lib/libxrt_coreutil.so")).unwrap();
    let error = setup::run(&machine.options(&compiler)).unwrap_err();
    assert!(matches!(error, SetupError::NoLibrary { .. }), "{error}");
    assert!(error.to_string().contains("--xrt-lib"), "{error}");

    fs::remove_file(machine.path("include/xrt/xrt_device.h")).unwrap();
    let error = setup::run(&machine.options(&compiler)).unwrap_err();
    assert!(matches!(error, SetupError::NoHeaders { .. }), "{error}");
    assert!(error.to_string().contains("sudo apt install libxrt-dev"), "{error}");
}

#[test]
fn an_xrt_that_does_not_report_why_a_run_failed_is_too_old() {
    let machine = Machine::with_xrt("2, 19");
    let compiler = machine.compiler("echo built > \"$out\"");
    let error = setup::run(&machine.options(&compiler)).unwrap_err();
    assert!(matches!(error, SetupError::TooOld { .. }), "{error}");
    assert!(error.to_string().contains("2.19.0, but 2.20.0 is needed"), "{error}");
}

#[test]
fn the_shim_compiles_against_the_real_xrt() {
    // The folder whose `root` contains the unpacked packages of XRT.
    let Some(root) = env::var_os("NPUGATE_TEST_XRT_ROOT").map(|path| Path::new(&path).join("root"))
    else {
        eprintln!(
            "SKIPPED: NPUGATE_TEST_XRT_ROOT does not name an XRT to compile the shim against"
        );
        return;
    };
    let cache = tempfile::tempdir().unwrap();
    let lib = format!("usr/lib/{}-linux-gnu", env::consts::ARCH);
    let installed = setup::run(&SetupOptions {
        include: Some(root.join("usr/include")),
        lib: Some(root.join(lib)),
        compiler: None,
        cache: Some(cache.path().to_owned()),
    })
    .unwrap();
    assert!(installed.shim.metadata().unwrap().len() > 10_000);
}

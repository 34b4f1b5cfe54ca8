//! `setup xrt` on a fake machine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper of tests may panic")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

/// Runs `setup xrt` on the XRT in `folder`. Returns the exit code, stdout and stderr.
fn setup(folder: &Path) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-npugate"))
        .args(["npugate", "setup", "xrt", "--xrt-include"])
        .arg(folder.join("include"))
        .arg("--xrt-lib")
        .arg(folder.join("lib"))
        .env("CXX", folder.join("compiler"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn setup_says_what_is_missing_and_how_to_install_it() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = setup(folder.path());
    assert_eq!((code, out.as_str()), (Some(96), ""), "{err}");
    assert!(err.starts_with("error: XRT's headers were not found (searched "), "{err}");
    assert!(err.contains("sudo apt install libxrt-dev"), "{err}");
}

#[test]
fn setup_builds_into_the_cache_and_tries_to_load_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(&at("include/xrt/xrt_device.h"), "");
    let header = "#define XRT_VERSION_CODE XRT_VERSION(2, 25)\n";
    write(&at("include/xrt/detail/version-slim.h"), header);
    write(&at("lib/libxrt_coreutil.so"), "");
    let compiler = "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\necho built > \"$out\"\n";
    write(&at("compiler"), compiler);
    fs::set_permissions(at("compiler"), fs::Permissions::from_mode(0o755)).unwrap();

    let (code, _, err) = setup(folder.path());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("Built ") && err.contains("for XRT 2.25 in "), "{err}");
    // The fake result is a text file, which cannot be loaded. That is not an error, since it might
    // still be of use on another machine.
    assert!(err.contains("Not loaded ") && err.contains("file too short"), "{err}");
    let built: Vec<_> = fs::read_dir(at("cache/npugate")).unwrap().flatten().collect();
    let [built] = built.as_slice() else { panic!("{built:?}") };
    assert!(built.file_name().to_string_lossy().starts_with("xrt-2.25-"), "{built:?}");
}

//! The double, as a process with it preloaded sees it, without XRT: files, descriptors, ioctls.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test says no more than the error itself does")]

#[path = "preload/driver.rs"]
mod driver;

use std::{
    env,
    path::PathBuf,
    process::{Command, Output},
};

/// The double's library, which cargo built for this test.
fn library() -> PathBuf {
    env::current_exe().unwrap().with_file_name("libfake_amdxdna.so")
}

/// Runs a program with the double preloaded.
fn preloaded(program: &str, args: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(program)
        .args(args)
        .env("LD_PRELOAD", library())
        .env("LC_ALL", "C")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// The output of a program with the double preloaded.
fn says(program: &str, args: &[&str]) -> String {
    let output = preloaded(program, args, &[]);
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

const DEVICE: &str = "/sys/bus/pci/drivers/amdxdna/0000:c5:00.1";

#[test]
fn an_npu_is_in_sysfs_and_says_that_it_is_a_fake() {
    assert_eq!(says("cat", &[&format!("{DEVICE}/vbnv")]), "RyzenAI-npu4 (fake)");
    assert_eq!(says("ls", &["/sys/bus/pci/drivers/amdxdna"]), "0000:c5:00.1");
    let real = "/sys/devices/pci0000:00/0000:00:08.2/0000:c5:00.1";
    assert_eq!(says("realpath", &[DEVICE]), real);
}

#[test]
fn everything_else_is_unchanged() {
    let file = env::current_exe().unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(says("realpath", &[file]), std::fs::canonicalize(file).unwrap().to_str().unwrap());
    assert!(!preloaded("cat", &["/dev/accelerator"], &[]).status.success());
}

#[test]
fn a_given_root_is_used_unchanged() {
    let empty = tempfile::tempdir().unwrap();
    let root = [("FAKE_XDNA_ROOT", empty.path().to_str().unwrap())];
    for path in [DEVICE, "/dev/accel/accel0"] {
        let output = preloaded("cat", &[path], &root);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("No such file or directory"), "{error}");
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn opening_the_node_fails_as_a_fault_says() {
    for (errno, text) in [("13", "Permission denied"), ("19", "No such device")] {
        let output = preloaded("cat", &["/dev/accel/accel0"], &[("FAKE_XDNA_OPEN_ERRNO", errno)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(text), "{error}");
    }
}

/// Starts this program again as a client of the driver.
fn client(test: &str, variables: &[(&str, &str)]) {
    let program = env::current_exe().unwrap();
    let args = [test, "--exact", "--ignored", "--nocapture"];
    let output = preloaded(program.to_str().unwrap(), &args, variables);
    assert!(output.status.success(), "{test}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn a_command_adds_two_vectors() {
    client("driver::adds_two_vectors", &[]);
}

#[test]
fn a_command_that_uses_a_closed_buffer_ends_in_an_error() {
    client("driver::reaches_for_a_closed_buffer", &[]);
}

#[test]
fn a_command_that_hangs_keeps_its_waiter_until_the_deadline() {
    client("driver::waits_in_vain", &[("FAKE_XDNA_HANG", "1")]);
}

#[test]
fn two_opens_share_nothing() {
    client("driver::opens_twice", &[]);
}

//! A gate that is run by hand or by nextest locks an exclusive device itself.

use crate::gate::{command, run_with};
use npugate::schema::DeviceLock;
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    time::Duration,
};

crate::trials!(
    a_gate_waits_for_an_exclusive_device,
    a_gate_leaves_the_lock_to_a_caller_that_holds_it
);

fn held(folder: &tempfile::TempDir) -> (DeviceLock, String) {
    let path = folder.path().join("npu.lock");
    let lock = DeviceLock::acquire(&path, Duration::from_secs(1), |_| {}, || true).unwrap();
    (lock, path.display().to_string())
}

fn a_gate_waits_for_an_exclusive_device() {
    let folder = tempfile::tempdir().unwrap();
    let (lock, path) = held(&folder);
    let mut gate = command("sound", &["--device", "other"]);
    gate.env("NPUGATE_LOCK", &path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut gate = gate.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(gate.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let holder = format!("waiting for the NPU, held by pid {}, `", std::process::id());
    assert!(line.starts_with(&holder), "{line}");
    assert_eq!(gate.try_wait().unwrap(), None, "it waits");
    drop(lock);
    assert!(gate.wait().unwrap().success());
    // Listing does not wait, and neither does a run on a device that can be shared.
    let (_lock, path) = held(&folder);
    for args in [&["--list", "--device", "other"][..], &["--device", "host"]] {
        let ran = run_with("sound", args, &[("NPUGATE_LOCK", &path)]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

fn a_gate_leaves_the_lock_to_a_caller_that_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let (_lock, path) = held(&folder);
    let variables = [("NPUGATE_LOCK", &*path), ("NPUGATE_LOCK_HELD", "1")];
    let ran = run_with("sound", &["--device", "other"], &variables);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

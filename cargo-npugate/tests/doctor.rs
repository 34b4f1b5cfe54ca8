//! `doctor` and `device` as users call them, on folder trees in place of this machine.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

use npugate_schema::{DEVICE_REPORT_SCHEMA, DeviceReport, EXAMINATION_SCHEMA, Examination, Health};
use std::{fs, os::unix::fs::symlink, path::Path, process::Command};
use tempfile::TempDir;

const NPU: &str = "sys/bus/pci/devices/0000:c5:00.1";

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A Strix that its driver has bound, with less lockable memory than it needs and no XRT.
fn strix() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("vendor", "0x1022\n"),
        ("device", "0x17f0\n"),
        ("revision", "0x10\n"),
        ("vbnv", "RyzenAI-npu4\n"),
        ("fw_version", "1.1.2.65\n"),
    ] {
        write(root.path(), &format!("{NPU}/{name}"), text);
    }
    symlink("../../drivers/amdxdna", root.path().join(NPU).join("driver")).unwrap();
    symlink("../../../kernel/iommu_groups/24", root.path().join(NPU).join("iommu_group")).unwrap();
    write(root.path(), "sys/kernel/iommu_groups/24/type", "DMA-FQ\n");
    write(root.path(), "dev/accel/accel0", "interface 0.7\npower default\n");
    let limits = "Max locked memory         8388608              8388608              bytes\n";
    write(root.path(), "proc/self/limits", limits);
    root
}

/// Runs the command in an empty folder. Returns the exit code, stdout and stderr.
fn run(root: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-npugate"));
    command.arg("npugate").args(args).current_dir(folder.path()).env("NPUGATE_SYSTEM_ROOT", root);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn problems_give_the_exit_code_of_an_unavailable_device() {
    let root = strix();
    let (code, out, err) = run(root.path(), &["doctor"]);
    assert_eq!(code, Some(122), "{out}{err}");
    assert!(out.contains("     problem memlock: only 8 MiB of memory can be locked"), "{out}");
    assert!(out.contains("     problem xrt: XRT is not installed"), "{out}");
    assert!(err.contains("2 problems"), "{err}");
    assert!(err.contains("begin with memlock"), "{err}");
}

#[test]
fn json_is_one_object_that_reads_back() {
    let root = strix();
    for args in [["doctor", "--json"].as_slice(), &["--device", "xrt", "doctor", "--json", "-q"]] {
        let (code, out, _) = run(root.path(), args);
        assert_eq!(code, Some(122));
        let examination: Examination = serde_json::from_str(&out).unwrap();
        assert_eq!(examination.schema, EXAMINATION_SCHEMA);
        assert_eq!((examination.device.as_str(), examination.checks.len()), ("xrt", 14));
        assert_eq!(examination.count(Health::Problem), 2);
        assert!(examination.checks.iter().all(|check| !check.sources.is_empty()));
    }
}

#[test]
fn a_device_is_shown_without_its_problems() {
    let root = strix();
    let (code, out, err) = run(root.path(), &["device"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("name          RyzenAI-npu4\n"), "{out}");
    assert!(
        out.contains("\npower mode    default\n") && out.contains("\nXRT           not found"),
        "{out}"
    );
    let (code, out, _) = run(root.path(), &["device", "--json"]);
    let report: DeviceReport = serde_json::from_str(&out).unwrap();
    assert_eq!((code, report.schema.as_str()), (Some(0), DEVICE_REPORT_SCHEMA));
    assert_eq!(report.npu.unwrap().architecture.as_deref(), Some("aie2p"));
}

#[test]
fn without_a_device_the_error_is_one_sentence() {
    let root = tempfile::tempdir().unwrap();
    let (code, out, err) = run(root.path(), &["device"]);
    assert_eq!((code, out.as_str()), (Some(122), ""));
    assert_eq!(
        err,
        "error: there is no AMD NPU on the PCI bus: `cargo npugate doctor` says what to do\n"
    );
    let (code, out, _) = run(root.path(), &["device", "--json"]);
    assert_eq!(code, Some(122));
    assert_eq!(serde_json::from_str::<DeviceReport>(&out).unwrap().npu, None);
}

#[test]
fn other_devices_than_hardware_and_test_options_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (code, _, err) = run(root.path(), &["doctor", "--device", "emu"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("which `emu` is not: use `--device xrt`"), "{err}");
    let (code, _, err) = run(root.path(), &["--full", "device"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("unexpected argument '--full' found"), "{err}");
    let (code, _, _) = run(root.path(), &["doctor", "-p", "nothing"]);
    assert_ne!(code, Some(122), "a model was named in a folder without a workspace");
}

/// Returns what the checks find on the double of the kernel driver, or `None` if there is no
/// double. `kernels/xrt/ci.sh` makes one and names its folder.
fn on_the_double(fault: Option<(&str, &str)>) -> Option<Examination> {
    let Some(root) = std::env::var_os("NPUGATE_TEST_XRT_ROOT") else {
        eprintln!("SKIPPED: NPUGATE_TEST_XRT_ROOT does not name a double of the driver");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(Path::new(&root).join("runner.sh"));
    command.arg(env!("CARGO_BIN_EXE_cargo-npugate")).args(["npugate", "doctor", "--json"]);
    command.current_dir(folder.path()).envs(fault);
    let output = command.output().unwrap();
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn the_driver_is_queried_and_a_double_is_identified() {
    let Some(examination) = on_the_double(None) else { return };
    let found = |name: &str| examination.checks.iter().find(|one| one.check == name).unwrap();
    assert!(found("pci").finding.contains("not hardware"), "{examination:#?}");
    assert!(found("elf").finding.contains("driver interface 0."), "{examination:#?}");
    assert!(found("power").finding.contains("`default`"), "{examination:#?}");
}

#[test]
fn a_driver_that_refuses_is_diagnosed_from_its_errors() {
    for (errno, problems) in [("13", ["node"].as_slice()), ("95", &["node", "iommu"])] {
        let fault = Some(("FAKE_XDNA_OPEN_ERRNO", errno));
        let Some(examination) = on_the_double(fault) else { return };
        for name in problems {
            let found = examination.checks.iter().find(|one| one.check == *name).unwrap();
            assert_eq!(found.health, Health::Problem, "{examination:#?}");
        }
    }
}

#[test]
fn this_machine_can_be_examined_whatever_it_is() {
    let (code, out, err) = run(Path::new("/"), &["doctor", "--json"]);
    assert!([Some(0), Some(122)].contains(&code), "{out}{err}");
    assert_eq!(serde_json::from_str::<Examination>(&out).unwrap().checks.len(), 14);
}

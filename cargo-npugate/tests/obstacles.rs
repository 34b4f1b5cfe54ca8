//! External obstacles to a run: a full disk, a checkout that cannot be written
//! to. Each is reported in one sentence with its own exit code, and leaves no
//! half-written file.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "test helpers outside functions marked as tests")]

mod support;

use std::{ffi::OsString, fs, path::Path, process::Command};
use support::{Run, Scene};

/// Runs the command in its own mount namespace, where `script` has mounted
/// something. Prints a note and returns `None` if mounting is not allowed.
fn run_in(scene: &Scene, script: &str, line: &str, variables: &[(&str, &str)]) -> Option<Run> {
    let allowed = Command::new("unshare").args(["--mount", "sh", "-c", script]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: mounting is not allowed here (run as root to test a full disk)");
        return None;
    }
    let inner = scene.command(line.split_whitespace());
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "sh",
        "-c",
        &format!("{script}; \"$@\"; code=$?; (ls -A full >after) 2>/dev/null; exit $code"),
        "sh",
    ]);
    command.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.envs(variables.iter().map(|(name, value)| (name, OsString::from(value))));
    command.current_dir(scene.path(""));
    Some(Run::of(&command.output().unwrap()))
}

/// Returns a folder, and the script that mounts one page there and fills it.
fn full(scene: &Scene) -> (String, String) {
    let folder = scene.path("full");
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.display().to_string();
    let script = format!(
        "mount -t tmpfs -o size=4k none {folder} && \
         dd if=/dev/zero of={folder}/ballast bs=4096 count=1 2>/dev/null"
    );
    (folder, script)
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_full_disk_for_the_events_is_reported() {
    let scene = Scene::with_tests("alpha a::b pass\nbeta a::b pass");
    scene.run("list").expect(0, &[]);
    let (folder, script) = full(&scene);
    let Some(run) = run_in(&scene, &script, "", &[("TMPDIR", &folder)]) else { return };
    run.expect(110, &["error: the gate of alpha could not write: ", "No space left on device"]);
    run.expect_none(&["panicked", "is its main function"]);
    assert_eq!(scene.read("after"), "ballast\n");
}

#[test]
fn a_full_disk_for_a_report_leaves_no_partial_report() {
    let scene = Scene::with_tests("alpha a::b pass");
    scene.run("list").expect(0, &[]);
    let (folder, script) = full(&scene);
    let line = format!("--junit {folder}/junit.xml");
    let Some(run) = run_in(&scene, &script, &line, &[]) else { return };
    run.expect(110, &["1 passed", "error: ", "junit.xml cannot be written: No space left"]);
    assert_eq!(scene.read("after"), "ballast\n");
}

#[test]
fn a_checkout_that_cannot_be_written_to_keeps_its_verdicts() {
    let scene = Scene::with_tests("alpha a::b pass\nbeta a::b pass");
    scene.run("list").expect(0, &[]);
    let fixtures = scene.path("fixtures");
    fs::create_dir_all(&fixtures).unwrap();
    let folder = scene.path("").display().to_string();
    let script = format!(
        "mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && cd {folder}"
    );
    let Some(run) = run_in(&scene, &script, "", &[]) else { return };
    run.expect(110, &["2 passed", "error: ", "cannot be written: ", "Read-only file system"]);
    assert_eq!(files_in(&fixtures), [""; 0]);
    // A failed test outranks a baseline that cannot be written.
    let scene = scene.with("FAKE_GATE", "alpha a::b pass\nbeta a::b fail");
    let Some(run) = run_in(&scene, &script, "", &[]) else { return };
    run.expect(100, &["1 passed, 1 failed", "cannot be written: ", "Read-only file system"]);
    // If nothing is to be written, there is no error.
    let Some(run) = run_in(&scene, &script, "", &[("NPUGATE_UPDATE", "no")]) else { return };
    run.expect(100, &["1 passed, 1 failed"]).expect_none(&["cannot be written"]);
}

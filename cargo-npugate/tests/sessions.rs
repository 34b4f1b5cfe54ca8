//! Sessions as users would type them. Each is a page in `tests/sessions` that shows
//! the output word by word. `SNAPSHOTS=overwrite cargo test -p cargo-npugate --test
//! sessions` rewrites the pages; read the diff.
#![cfg(unix)]

mod support;

use std::fs;
use support::session::Session;

#[test]
fn a_green_run() {
    let mut session = Session::new(
        "green",
        "A green run",
        "alpha kernel::gemm::256x576x1536::high pass 0.9959
         alpha kernel::softmax::64x256 pass
         alpha block::layer00::cosine pass
         alpha tokens::base::p00 pass
         alpha tokens::base::p01 full
         beta kernel::gemm::64x64x64 pass",
    );
    session.run("").run("kernel -v").run("list").finish();
}

#[test]
fn a_failing_gate() {
    let mut session = Session::new(
        "failing-gate",
        "A gate that fails",
        "alpha kernel::gemm::256x576x1536::high pass
         alpha kernel::softmax::64x256 fail 0.98
         alpha block::layer00::cosine invalid",
    );
    session
        .run("")
        .say("The command after `rerun:` runs just that test again:")
        .run("-p alpha --exact kernel::softmax::64x256")
        .say("This runs every test that failed before again:")
        .run("--rerun failed")
        .finish();
}

#[test]
fn a_crash_inside_a_test() {
    let mut session = Session::new(
        "crash",
        "A crash inside a test",
        "alpha kernel::add::64x64 pass
         alpha kernel::gemm::64x64x64 crash
         alpha kernel::softmax::64x256 pass",
    );
    session.run("kernel").finish();
}

#[test]
fn a_hang() {
    let mut session = Session::new(
        "hang",
        "A test that hangs",
        "alpha kernel::add::64x64 pass
         alpha kernel::gemm::64x64x64 hang
         alpha kernel::softmax::64x256 pass",
    );
    session.run("kernel --slow 300ms --timeout 900ms").finish();
}

#[test]
fn an_interrupted_run() {
    let mut session = Session::new(
        "interrupted",
        "A run that is interrupted",
        "alpha kernel::add::64x64 pass
         alpha kernel::gemm::64x64x64 hang
         alpha kernel::softmax::64x256 pass
         beta kernel::add::64x64 pass",
    );
    let running = session.start("-v --junit junit.xml", "PASS");
    session.say("Then the user presses Ctrl-C, or a CI system cancels the job:");
    running.terminate();
    session.wait("-v --junit junit.xml", running);
    session.say("The report is complete, and the tests that did not run are skipped in it.");
    assert!(session.scene().read("junit.xml").contains(r#"tests="4""#));
    session.finish();
}

#[test]
fn two_runs_and_one_npu() {
    let mut session = Session::new(
        "lock",
        "Two runs and one NPU",
        "alpha kernel::add::64x64 slow
         alpha kernel::gemm::64x64x64 slow
         alpha !exclusive",
    );
    let first = session.start("--lock npu.lock", "Running");
    session
        .say("A second run waits for the device and continues when it is free:")
        .run("--lock npu.lock");
    session.say("Meanwhile, the first run finishes:").wait("--lock npu.lock", first);
    let first = session.start("--lock npu.lock", "Running");
    session
        .say("With `--lock-timeout`, a run does not wait forever:")
        .run("--lock npu.lock --lock-timeout 100ms");
    drop(first);
    session.finish();
}

#[test]
fn a_run_in_shards() {
    let mut session = Session::new(
        "shards",
        "A run in shards, merged",
        "alpha kernel::add::64x64 pass
         alpha kernel::gemm::64x64x64 fail 0.98
         alpha kernel::softmax::64x256 pass
         beta kernel::add::64x64 pass",
    );
    session
        .run("--partition slice:1/2 --results shard1.jsonl")
        .run("--partition slice:2/2 --results shard2.jsonl")
        .run("merge shard1.jsonl shard2.jsonl --junit junit.xml")
        .say("A missing shard is an error:")
        .run("merge shard1.jsonl");
    session.finish();
}

#[test]
fn a_regression_reviewed() {
    let mut session = Session::new(
        "regression",
        "A regression, reviewed and accepted",
        "alpha kernel::gemm::64x64x64 pass 0.999
         alpha kernel::softmax::64x256 pass 0.9995",
    );
    session
        .say("The first run has no baseline to compare with:")
        .run("")
        .run("accept")
        .gates(
            "alpha kernel::gemm::64x64x64 regressed 0.995
             alpha kernel::softmax::64x256 pass 0.9999",
        )
        .say("Then one kernel gets worse and one gets better:")
        .run("")
        .run("pending")
        .run_on_terminal("review", &["r", "a"])
        .say("The rejected change is no longer pending, and the baseline has the accepted one:")
        .run("pending")
        .show("fixtures/alpha/baseline/emu.json")
        .finish();
}

#[test]
fn a_typo_in_a_filter() {
    let mut session = Session::new(
        "filter-typo",
        "A typo in a filter",
        "alpha kernel::gemm::64x64x64 pass
         alpha block::layer00::cosine pass",
    );
    session
        .run("gem")
        .run("lst")
        .run("-E 'mdoel(alpha)'")
        .run("-E 'kind(kernl)'")
        .run("-E '(kind(kernel)'")
        .run("-E 'op(gem)'")
        .run("-E 'mm >= 64'")
        .run("-E 'op(gemm) & m >= 64'");
    session.finish();
}

#[test]
fn a_bad_config() {
    let mut session = Session::new(
        "bad-config",
        "A configuration that cannot be read",
        "alpha kernel::gemm::64x64x64 pass",
    );
    let path = ".config/npugate.toml";
    session
        .write(path, "[profile.default]\nretires = 2\n")
        .run("")
        .write(path, "[profile.ci]\ninherits = \"nightly\"\n")
        .run("--profile ci")
        .write(
            path,
            "[[profile.default.overrides]]\nfilter = 'op(gemm) & m >='\ntimeout = \"10s\"\n",
        )
        .run("")
        .write(path, "[profile.default]\ntimeout = \"soon\"\n")
        .run("")
        .write(path, "[profile.ci]\nretries = 2\ntimeout = \"10m\"\n")
        .run("--profile ic")
        .run("show-config --profile ci")
        .finish();
}

#[test]
fn a_flaky_test() {
    let mut session = Session::new(
        "flaky",
        "A test that fails and then passes",
        "alpha kernel::add::64x64 pass
         alpha kernel::gemm::64x64x64 flaky
         alpha kernel::softmax::64x256 fail 0.98",
    );
    let state = session.scene().path("state").display().to_string();
    session.scene().set("FAKE_STATE", state);
    session
        .say("Retries distinguish a flaky test from one that always fails. Both fail the run:")
        .run("--retries 2")
        .finish();
}

#[test]
fn a_waiver() {
    let mut session = Session::new(
        "waiver",
        "A limit that is waived for some time",
        "alpha kernel::gemm::64x64x64 fail 0.98
         alpha kernel::softmax::64x256 pass",
    );
    let path = ".config/npugate.toml";
    let waiver = |expires: &str, limit: &str| {
        format!(
            "[[profile.default.waivers]]\nfilter = 'op(gemm)'\nmetric = \"cosine\"\nlimit = {limit}\n\
             reason = \"the low tier rounds too often, until the drain kernel fits\"\nexpires = {expires}\n"
        )
    };
    session
        .write(path, &waiver("2999-12-31", "0.975"))
        .run("")
        .say("A waiver does not cover values beyond its own limit:")
        .write(path, &waiver("2999-12-31", "0.985"))
        .run("kernel::gemm")
        .say("It does not apply after its last day:")
        .write(path, &waiver("2026-01-31", "0.975"))
        .run("kernel::gemm")
        .say("And it must give a reason:")
        .write(path, "[[profile.default.waivers]]\nfilter = 'op(gemm)'\nmetric = \"cosine\"\nlimit = 0.975\nreason = \" \"\nexpires = 2999-12-31\n")
        .run("kernel::gemm")
        .finish();
}

#[test]
fn a_machine_that_is_examined() {
    let mut session = Session::new(
        "doctor",
        "What keeps an NPU from running",
        "alpha kernel::gemm::64x64x64 pass",
    );
    let machine = session.scene().path("machine");
    fs::create_dir_all(machine.join("sys/bus/pci/devices")).unwrap();
    session.scene().set("NPUGATE_SYSTEM_ROOT", machine.display().to_string());
    session
        .say("On a machine without an NPU:")
        .run("doctor")
        .run("device")
        .say("On a laptop with an NPU, a kernel that is too old for it, and no XRT:");
    let npu = machine.join("sys/bus/pci/devices/0000:c5:00.1");
    fs::create_dir_all(&npu).unwrap();
    for (name, text) in [("vendor", "0x1022"), ("device", "0x17f0"), ("revision", "0x11")] {
        fs::write(npu.join(name), text).unwrap();
    }
    let group = machine.join("sys/kernel/iommu_groups/24");
    fs::create_dir_all(&group).unwrap();
    fs::write(group.join("type"), "DMA-FQ\n").unwrap();
    std::os::unix::fs::symlink(group, npu.join("iommu_group")).unwrap();
    fs::create_dir_all(machine.join("proc/sys/kernel")).unwrap();
    fs::create_dir_all(machine.join("proc/self")).unwrap();
    fs::write(machine.join("proc/sys/kernel/osrelease"), "6.8.0-45-generic\n").unwrap();
    let limits = "Max locked memory         8388608              8388608              bytes\n";
    fs::write(machine.join("proc/self/limits"), limits).unwrap();
    session.run("doctor").run("device").run("doctor --device emu").finish();
}

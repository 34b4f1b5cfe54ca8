//! The limits of a process and of the driver: memory, contexts, time, power.

use super::*;
use crate::doctor::tree::ADDRESS;

fn memlock(bytes: u64) -> Tree {
    let line = format!("Max locked memory         {bytes:<20} {bytes:<20} bytes\n");
    Tree::strix_halo().file("/proc/self/limits", &line)
}

fn smollm2() -> ModelBuffers {
    ModelBuffers { model: "smollm2-135m".into(), bytes: 269_030_016 }
}

#[test]
fn memory_for_the_drivers_heap_is_needed_first() {
    let small = memlock(8 << 20);
    expect(&small, "memlock", Health::Problem, "only 8 MiB of memory can be locked", "limits.d");
    let evidence = check(&small, "memlock").evidence;
    assert_eq!(evidence, ["RLIMIT_MEMLOCK is 8388608 bytes (`ulimit -l` 8192)"]);
    // A byte less than the heap, and the heap itself.
    expect(&memlock((64 << 20) - 1), "memlock", Health::Problem, "EAGAIN (11)", "limits.d");
    expect(&memlock(64 << 20), "memlock", Health::Warning, "not for every model", "unlimited");
    let inside = small.file("/.dockerenv", "");
    expect(&inside, "memlock", Health::Problem, "only 8 MiB", "docker run --ulimit memlock=-1");
}

#[test]
fn the_weights_of_the_largest_model_count_too() {
    let tiny = || ModelBuffers { model: "tiny".into(), bytes: 1 << 20 };
    let tree = memlock(256 << 20);
    let found = check_with(&tree, "memlock", vec![tiny(), smollm2()]);
    assert_eq!(found.health, Health::Problem);
    // 269,030,016 bytes are 256.6 MiB, and the heap is 64.
    assert!(found.finding.ends_with("smollm2-135m needs at least 321 MiB"), "{found:#?}");
    assert_eq!(check_with(&tree, "memlock", vec![tiny()]).health, Health::Warning);
}

#[test]
fn a_limit_that_cannot_be_read_is_unknown() {
    let tree = Tree::strix_halo().without("/proc/self/limits");
    expect(&tree, "memlock", Health::Unknown, "cannot read", "ulimit -l");
}

#[test]
fn processes_that_have_the_npu_open_are_named() {
    let tree = Tree::strix_halo()
        .file("/proc/4711/comm", "flm\n")
        .link("/proc/4711/fd/5", "/dev/accel/accel0");
    expect(
        &tree,
        "contexts",
        Health::Warning,
        "1 process has the NPU open",
        "one program at a time",
    );
    assert_eq!(check(&tree, "contexts").evidence[0], "pid 4711, `flm`");
}

#[test]
fn contexts_can_be_used_up() {
    let phoenix = |processes: u32| {
        let tree = Tree::strix_halo().npu("device", "0x1502\n").npu("revision", "0x00\n");
        (0..processes).fold(tree, |tree, index| {
            tree.link(&format!("/proc/{}/fd/3", 100 + index), "/dev/accel/accel0")
        })
    };
    // npu1 has six.
    expect(&phoenix(6), "contexts", Health::Problem, "no more can be made", "end one");
    expect(&phoenix(5), "contexts", Health::Warning, "5 processes have", "");
    let log = "3,1,1,-;amdxdna 0000:c5:00.1: [drm] *ERROR* command failed, status 0x2000003\n";
    let lately = Tree::strix_halo().file("/dev/kmsg", log);
    expect(
        &lately,
        "contexts",
        Health::Warning,
        "out of contexts or columns recently",
        "end the processes",
    );
}

#[test]
fn the_time_until_the_reset_is_that_of_the_module() {
    let with = |value: &str| {
        Tree::strix_halo().file("/sys/module/amdxdna/parameters/tdr_timeout_ms", value)
    };
    expect(&with("16000\n"), "reset", Health::Ok, "after 16000 ms", "");
    expect(
        &with("1999\n"),
        "reset",
        Health::Warning,
        "less than the default of 2000 ms",
        "modprobe.d",
    );
    expect(&with("0\n"), "reset", Health::Warning, "never ends a run", "tdr_timeout_ms=2000");
    expect(&with("soon\n"), "reset", Health::Unknown, "cannot read", "raise");
}

#[test]
fn measuring_on_battery_or_in_powersaver_is_a_warning() {
    let battery = Tree::strix_halo().file("/sys/class/power_supply/AC0/online", "0\n");
    expect(&battery, "power", Health::Warning, "on battery", "plug it in");
    let with = |power: &str| Tree::strix_halo().file("/dev/accel/accel0", power);
    let configure = format!("xrt-smi configure -d {ADDRESS} --pmode turbo");
    expect(&with("power powersaver\n"), "power", Health::Warning, "powersaver", &configure);
    expect(&with("power default\n"), "power", Health::Ok, "published figures use `turbo`", "");
    expect(&with(""), "power", Health::Unknown, "cannot read the power mode", "xrt-smi examine");
}

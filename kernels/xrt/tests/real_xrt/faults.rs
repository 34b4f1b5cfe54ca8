//! Faults of driver and device: each is an error of its own that says what to do next.

use std::time::Duration;

use crate::{
    child::{Outcome, play, play_for},
    scenario::{Form, Scenario},
};

/// Plays `scenario` with `faults`: it must fail as `expected`, with `advice` in the message.
pub fn fails(scenario: Scenario, faults: &[(&str, &str)], expected: &str, advice: &str) {
    let Some(outcome) = play(scenario, faults) else { return };
    match &outcome {
        Outcome::Failed { kind, text } => {
            assert_eq!(kind, expected, "{scenario} with {faults:?}: {text}");
            assert!(text.contains(advice), "{scenario} with {faults:?}: no `{advice}` in: {text}");
        }
        _ => panic!("{scenario} with {faults:?}: {outcome:?}, not {expected}"),
    }
}

const ADD: Scenario = Scenario::Add(Form::Elf);

#[test]
fn without_a_device_the_doctor_is_named() {
    fails(ADD, &[("FAKE_XDNA_ROOT", "/nonexistent")], "NoDevice", "cargo npugate doctor");
}

#[test]
fn the_errno_of_a_node_that_does_not_open_is_recognised() {
    for (errno, expected, advice) in [
        ("2", "NodeMissing", "modprobe amdxdna"),
        ("13", "Permission", "render"),
        ("19", "NodeRefused", "IOMMU"),
        ("95", "NodeRefused", "IOMMU"),
    ] {
        fails(ADD, &[("FAKE_XDNA_OPEN_ERRNO", errno)], expected, advice);
    }
}

#[test]
fn memory_that_cannot_be_locked_is_reported_with_the_heaps_size() {
    let limit = [("FAKE_XDNA_MEMLOCK", "8388608")];
    fails(ADD, &limit, "Memlock", "ulimit -l");
    fails(ADD, &limit, "Memlock", "67108864 bytes");
}

#[test]
fn another_driver_than_xrts_is_reported() {
    fails(ADD, &[("FAKE_XDNA_FAIL", "CREATE_BO:25")], "WrongDriver", "amdxdna");
}

#[test]
fn a_driver_that_is_too_old_for_elfs_is_reported() {
    fails(ADD, &[("FAKE_XDNA_FAIL", "EXEC_CMD:95")], "DriverTooOld", "newer driver");
}

#[test]
fn contexts_run_out_at_the_hardwares_number_and_at_a_smaller_one() {
    let advice = "cargo npugate device";
    fails(Scenario::Contexts, &[], "ContextsExhausted", advice);
    fails(Scenario::Contexts, &[("FAKE_XDNA_MAX_CTX", "2")], "ContextsExhausted", advice);
    fails(ADD, &[("FAKE_XDNA_MAX_CTX", "0")], "ContextsExhausted", advice);
}

#[test]
fn contexts_that_are_dropped_are_given_back() {
    let Some(outcome) = play(Scenario::ContextsInTurn, &[]) else { return };
    assert_eq!(outcome, Outcome::Done("20".to_owned()));
}

#[test]
fn a_context_that_is_refused_for_another_reason_is_reported() {
    fails(ADD, &[("FAKE_XDNA_FAIL", "CREATE_HWCTX:5")], "ContextRefused", "cargo npugate doctor");
}

#[test]
fn a_refused_configuration_is_reported() {
    let xclbin = Scenario::Add(Form::Xclbin);
    fails(xclbin, &[("FAKE_XDNA_FAIL", "CONFIG_HWCTX:22")], "Configuration", "again, for this NPU");
    fails(xclbin, &[("FAKE_XDNA_FAIL", "CONFIG_HWCTX:62")], "Wedged", "modprobe");
}

#[test]
fn a_refused_command_is_reported() {
    for form in [Form::Elf, Form::Xclbin] {
        let add = Scenario::Add(form);
        fails(add, &[("FAKE_XDNA_FAIL", "EXEC_CMD:22")], "Submit", "arguments");
        fails(add, &[("FAKE_XDNA_FAIL", "EXEC_CMD:5")], "Wedged", "modprobe");
    }
}

#[test]
fn each_state_other_than_completed_is_an_error_of_its_own() {
    for (state, expected, advice) in [
        ("5", "Device", "built for this NPU"),
        ("6", "Aborted", "nothing else on the NPU"),
        ("8", "DeviceTimeout", "tdr_timeout_ms"),
        ("9", "NoResponse", "reload the driver"),
    ] {
        for scenario in [ADD, Scenario::Add(Form::Xclbin)] {
            fails(scenario, &[("FAKE_XDNA_STATE", state)], expected, advice);
        }
    }
}

#[test]
fn a_later_run_that_fails_is_reported_like_the_first() {
    let faults = [("FAKE_XDNA_STATE", "8"), ("FAKE_XDNA_AFTER", "1")];
    fails(Scenario::Reuse(Form::Elf), &faults, "DeviceTimeout", "tdr_timeout_ms");
}

#[test]
fn a_run_that_hangs_is_over_at_its_deadline() {
    for form in [Form::Elf, Form::Xclbin] {
        let faults = [("FAKE_XDNA_HANG", "1")];
        fails(Scenario::Deadline(form), &faults, "HostTimeout", "end this process");
    }
}

#[test]
fn a_run_that_hangs_without_a_deadline_can_be_killed_from_outside() {
    let hang = [("FAKE_XDNA_HANG", "1")];
    let Some(outcome) = play_for(Duration::from_secs(2), Scenario::NoDeadline, &hang) else {
        return;
    };
    assert_eq!(outcome, Outcome::Killed);
    assert_eq!(play(ADD, &[]), Some(Outcome::Done("x3".to_owned())));
}

#[test]
fn a_fault_that_the_double_does_not_know_keeps_the_device_from_opening() {
    fails(ADD, &[("FAKE_XDNA_STATE", "soon")], "NodeRefused", "Invalid argument");
}

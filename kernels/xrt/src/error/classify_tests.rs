use super::*;

/// The variant for what XRT reported. The messages and numbers in these tests are those of XRT 2.25
/// with its amdxdna library.
fn classified(failure: Failure, text: &str) -> String {
    let error = Error::from(Report { call: "call", failure, text: text.to_owned() });
    let debug = format!("{error:?}");
    debug.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

const fn system(errno: i32) -> Failure {
    Failure::System { errno }
}

const MMAP: &str = "mmap(addr=0x0, len=67108864, prot=3, flags=8209, offset=4294967296) failed (err=-11): Resource temporarily unavailable";

#[test]
fn every_failure_of_the_device_has_its_own_error() {
    for (expected, failure, text) in [
        ("NoDevice", Failure::Exception, " No such device with index '0'"),
        (
            "NodeMissing",
            system(2),
            "Open /dev/accel/accel0 failed (err=-2): No such file or directory",
        ),
        ("Permission", system(13), "Open /dev/accel/accel0 failed (err=-13): Permission denied"),
        ("NodeRefused", system(19), "Open /dev/accel/accel0 failed (err=-19): No such device"),
        ("Memlock", system(11), MMAP),
        (
            "OutOfMemory",
            system(12),
            "mmap(addr=0x0, len=4096, prot=3, flags=8209, offset=0) failed (err=-12): Cannot allocate memory",
        ),
        ("WrongDriver", system(25), "DRM_IOCTL_AMDXDNA_CREATE_BO IOCTL failed (err=-25)"),
        ("DriverTooOld", system(95), "DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=-95)"),
        ("DriverTooOld", system(95), "DRM_IOCTL_AMDXDNA_GET_INFO IOCTL failed (err=-95)"),
        (
            "ContextsExhausted",
            system(2),
            "DRM_IOCTL_AMDXDNA_CREATE_HWCTX IOCTL failed (err=-2): No such file or directory",
        ),
        (
            "ContextsExhausted",
            system(28),
            "DRM_IOCTL_AMDXDNA_CREATE_HWCTX IOCTL failed (err=-28): No space left on device",
        ),
        (
            "ContextRefused",
            system(5),
            "DRM_IOCTL_AMDXDNA_CREATE_HWCTX IOCTL failed (err=-5): Input/output error",
        ),
        ("Configuration", system(22), "DRM_IOCTL_AMDXDNA_CONFIG_HWCTX IOCTL failed (err=-22)"),
        ("Wedged", system(62), "DRM_IOCTL_AMDXDNA_CONFIG_HWCTX IOCTL failed (err=-62)"),
        ("Wedged", system(5), "DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=-5)"),
        ("Submit", system(22), "DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=-22)"),
        ("Other", Failure::Exception, "something that nobody has seen before"),
    ] {
        assert_eq!(classified(failure, text), expected, "{text}");
    }
}

#[test]
fn every_final_state_but_completed_has_its_own_error() {
    for (expected, state, text) in [
        ("DeviceTimeout", 8, "Command failed to complete successfully (ERT_CMD_STATE_TIMEOUT)"),
        ("Device", 5, "Command failed to complete successfully (ERT_CMD_STATE_ERROR)"),
        ("Aborted", 6, "Command failed to complete successfully (ERT_CMD_STATE_ABORT)"),
        ("NoResponse", 9, "Command failed to complete successfully (ERT_CMD_STATE_NORESPONSE)"),
        ("UnknownState", 10, ""),
        ("UnknownState", -1, ""),
    ] {
        assert_eq!(classified(Failure::Command { state }, text), expected, "{state}");
    }
    assert_eq!(classified(Failure::HostTimeout { state: 3 }, ""), "HostTimeout");
}

#[test]
fn every_broken_file_has_its_own_error() {
    for (expected, failure, text) in [
        ("NoSuchKernel", system(22), "No such kernel 'NOPE': Invalid argument"),
        (
            "NoSuchKernel",
            Failure::Exception,
            "Unable to find group idx for given kernel: main:nope",
        ),
        ("NotAnElf", Failure::Exception, "x.elf is not found or is not a valid ELF file"),
        ("WrongPlatform", Failure::Exception, "ELF contains unsupported platform OS/ABI: 0"),
        ("PartialElf", Failure::Exception, "ELF is missing xrt configuration info"),
        ("NoSuchFile", Failure::Exception, "No such file 'x.xclbin'"),
        ("ShortXclbin", Failure::Exception, "xclbin: buffer too small to contain header"),
        ("TruncatedXclbin", Failure::Exception, "xclbin: m_length does not match buffer size"),
        ("InvalidXclbin", Failure::Exception, "Invalid xclbin"),
        (
            "NoDpuKernel",
            system(22),
            "No valid DPU kernel found in xclbin (err=22): Invalid argument",
        ),
    ] {
        assert_eq!(classified(failure, text), expected, "{text}");
    }
}

#[test]
fn what_the_shim_refuses_is_not_blamed_on_the_device() {
    assert_eq!(classified(Failure::Argument, "there is no argument 5"), "Refused");
    assert_eq!(classified(Failure::Unsupported, ""), "Unsupported");
}

#[test]
fn a_memory_limit_is_reported_in_bytes_with_its_remedy() {
    let report = Report { call: "context_open_elf", failure: system(11), text: MMAP.to_owned() };
    let error = Error::from(report);
    let Error::Memlock { needed, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*needed, Some(64 << 20));
    let message = error.to_string();
    for part in ["67108864 bytes", "ulimit -l unlimited", "/etc/security/limits.d", "errno 11"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_missing_file_is_named_without_its_quotes() {
    let text = "No such file '/a/b.xclbin'".to_owned();
    let error = Error::from(Report { call: "xclbin_open", failure: Failure::Exception, text });
    let Error::NoSuchFile { path } = error else { panic!("{error:?}") };
    assert_eq!(path, std::path::Path::new("/a/b.xclbin"));
}

#[test]
fn a_rule_is_never_hidden_by_an_earlier_one() {
    // Each rule must be the first match for its own text and for a number that it covers.
    for (index, rule) in RULES.iter().enumerate() {
        let failure = match &rule.when {
            When::Any => Failure::Exception,
            // For the rule about all other numbers: a number that no rule names.
            When::Errno(numbers) => system(numbers.first().copied().unwrap_or(-1)),
            When::State(state) => Failure::Command { state: *state },
            When::Ended => Failure::Command { state: -1 },
            When::Deadline => Failure::HostTimeout { state: 3 },
            When::Refused => Failure::Argument,
            When::Unsupported => Failure::Unsupported,
        };
        let report = Report { call: "call", failure, text: rule.text.to_owned() };
        let first = RULES.iter().position(|rule| rule.matches(&report));
        assert_eq!(first, Some(index), "{}", rule.text);
    }
}

#[test]
fn every_message_names_a_next_step_and_quotes_xrt() {
    for rule in RULES {
        let failure = system(22);
        let text = format!("{} 'x'", rule.text);
        let error = (rule.meaning)(Report { call: "some_call", failure, text });
        let message = error.to_string();
        assert!(message.contains("; ") || message.contains(", "), "{message}");
        if let Some(report) = error.report() {
            assert!(message.contains(&report.to_string()), "{message}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
}

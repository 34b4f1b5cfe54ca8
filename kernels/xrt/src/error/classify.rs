//! From what the shim reports to what it means: one table, in which the first match wins.

use rustix::process::{Resource, getrlimit};

use super::{Error, Failure, Report};

/// One row: which reports it applies to, and what they mean.
struct Rule {
    /// How the call failed.
    when: When,
    /// Text that XRT's message contains; empty for any message.
    text: &'static str,
    /// What the report means.
    meaning: fn(Report) -> Error,
}

/// The failures to which a rule applies.
enum When {
    /// All failures.
    Any,
    /// The operating system's errors with these numbers; all of its errors if the list is empty.
    Errno(&'static [i32]),
    /// A command that ended in this state.
    State(i32),
    /// A command that ended in any state other than completed.
    Ended,
    /// The host's deadline passed.
    Deadline,
    /// The shim refused the call.
    Refused,
    /// The shim's XRT does not support the call.
    Unsupported,
}

// Linux's numbers, on all machines that have an NPU.
const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const EIO: i32 = 5;
const ENXIO: i32 = 6;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;
const ENOTTY: i32 = 25;
const ENOSPC: i32 = 28;
const ETIME: i32 = 62;
const EOPNOTSUPP: i32 = 95;

/// The messages are those of XRT 2.25 and its amdxdna driver library. The numbers of `CREATE_HWCTX`
/// and of a wedged device come from the driver's issues.
const RULES: &[Rule] = &[
    rule(When::Deadline, "", Error::HostTimeout),
    rule(When::Refused, "", Error::Refused),
    rule(When::Unsupported, "", Error::Unsupported),
    rule(When::State(8), "", Error::DeviceTimeout),
    rule(When::State(5), "", Error::Device),
    rule(When::State(6), "", Error::Aborted),
    rule(When::State(9), "", Error::NoResponse),
    rule(When::Ended, "", Error::UnknownState),
    rule(When::Any, "No such device with index", Error::NoDevice),
    rule(When::Errno(&[ENOENT]), "Open /dev/", Error::NodeMissing),
    rule(When::Errno(&[EPERM, EACCES]), "Open /dev/", Error::Permission),
    rule(When::Errno(&[]), "Open /dev/", Error::NodeRefused),
    rule(When::Errno(&[EAGAIN]), "mmap(", memlock),
    rule(When::Errno(&[ENOMEM]), "mmap(", out_of_memory),
    rule(When::Errno(&[ENOTTY]), "IOCTL failed", Error::WrongDriver),
    rule(When::Errno(&[EOPNOTSUPP]), "EXEC_CMD IOCTL failed", Error::DriverTooOld),
    rule(When::Errno(&[EOPNOTSUPP]), "GET_INFO IOCTL failed", Error::DriverTooOld),
    rule(When::Errno(&[EOPNOTSUPP]), "GET_ARRAY IOCTL failed", Error::DriverTooOld),
    rule(
        When::Errno(&[ENOENT, ENOSPC, EINVAL]),
        "CREATE_HWCTX IOCTL failed",
        Error::ContextsExhausted,
    ),
    rule(When::Any, "CREATE_HWCTX IOCTL failed", Error::ContextRefused),
    rule(When::Errno(&[ETIME]), "CONFIG_HWCTX IOCTL failed", Error::Wedged),
    rule(When::Any, "CONFIG_HWCTX IOCTL failed", Error::Configuration),
    rule(When::Errno(&[EIO, ENXIO, ENODEV]), "EXEC_CMD IOCTL failed", Error::Wedged),
    rule(When::Any, "EXEC_CMD IOCTL failed", Error::Submit),
    rule(When::Any, "No valid DPU kernel found in xclbin", Error::NoDpuKernel),
    rule(When::Any, "No such kernel", Error::NoSuchKernel),
    rule(When::Any, "Unable to find group idx for given kernel", Error::NoSuchKernel),
    rule(When::Any, "is not found or is not a valid ELF file", Error::NotAnElf),
    rule(When::Any, "ELF contains unsupported platform", Error::WrongPlatform),
    rule(When::Any, "ELF is missing xrt configuration info", Error::PartialElf),
    rule(When::Any, "No such file '", no_such_file),
    rule(When::Any, "buffer too small to contain header", Error::ShortXclbin),
    rule(When::Any, "m_length does not match buffer size", Error::TruncatedXclbin),
    rule(When::Any, "Invalid xclbin", Error::InvalidXclbin),
];

/// A row of the table.
const fn rule(when: When, text: &'static str, meaning: fn(Report) -> Error) -> Rule {
    Rule { when, text, meaning }
}

impl Rule {
    /// Whether the rule applies to `report`.
    fn matches(&self, report: &Report) -> bool {
        let when = match (&self.when, report.failure) {
            (When::Any, _)
            | (When::Ended, Failure::Command { .. })
            | (When::Deadline, Failure::HostTimeout { .. })
            | (When::Refused, Failure::Argument)
            | (When::Unsupported, Failure::Unsupported) => true,
            (When::Errno(numbers), Failure::System { errno }) => {
                numbers.is_empty() || numbers.contains(&errno)
            }
            (When::State(expected), Failure::Command { state }) => *expected == state,
            _ => false,
        };
        when && report.text.contains(self.text)
    }
}

impl From<Report> for Error {
    fn from(report: Report) -> Self {
        let meaning = RULES
            .iter()
            .find(|rule| rule.matches(&report))
            .map_or(Self::Other as _, |rule| rule.meaning);
        meaning(report)
    }
}

/// The driver locks its heap and every buffer in memory.
fn memlock(report: Report) -> Error {
    Error::Memlock {
        needed: mapped_bytes(&report.text),
        limit: getrlimit(Resource::Memlock).current,
        report,
    }
}

/// XRT's own message recommends `--host-mem`, which is about other cards.
fn out_of_memory(report: Report) -> Error {
    Error::OutOfMemory { needed: mapped_bytes(&report.text), report }
}

/// The file between the quotes.
fn no_such_file(report: Report) -> Error {
    match report.text.split('\'').nth(1) {
        Some(path) => Error::NoSuchFile { path: path.into() },
        None => Error::Other(report),
    }
}

/// The length in `mmap(addr=…, len=67108864, …)`.
fn mapped_bytes(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("len=")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..digits)?.parse().ok()
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

//! Exit codes, the same for `cargo npugate` and for a gate binary that is run by hand
//! where they have the same meaning.

use std::process;

/// How `cargo npugate` ends. Codes shared with cargo-nextest keep its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ExitCode {
    /// Every test that ran passed, and at least one ran.
    Ok = 0,
    /// The command line is not valid.
    Usage = 2,
    /// No test matched.
    NoTests = 4,
    /// A filter expression is not valid, or asks for something that no test has.
    BadFilter = 94,
    /// Something that the run needs is missing or broken: no adapter, no
    /// weights under `--require-weights`, an unreadable file.
    Setup = 96,
    /// At least one test failed, crashed or timed out.
    TestsFailed = 100,
    /// The adapters did not build. Also what a gate binary returns when a test
    /// fails, as libtest does.
    BuildFailed = 101,
    /// `cargo metadata` failed.
    MetadataFailed = 102,
    /// A gate binary could not list its tests.
    ListingFailed = 104,
    /// A file could not be written.
    WriteFailed = 110,
    /// No test failed, but at least one could not judge or could not run.
    Inconclusive = 119,
    /// No test failed, but at least one got worse than its baseline.
    Regressed = 120,
    /// Changes are waiting for `cargo npugate review`.
    Pending = 121,
    /// The device is missing under `--require-device` or for `device`, another process
    /// held it until the deadline, or `doctor` found what keeps it from running.
    DeviceUnavailable = 122,
    /// Interrupted.
    Interrupted = 123,
    /// A baseline or golden that nothing refers to, under `--unreferenced reject`.
    Unreferenced = 124,
}

impl ExitCode {
    /// Every code, in ascending order.
    pub const ALL: [Self; 16] = [
        Self::Ok,
        Self::Usage,
        Self::NoTests,
        Self::BadFilter,
        Self::Setup,
        Self::TestsFailed,
        Self::BuildFailed,
        Self::MetadataFailed,
        Self::ListingFailed,
        Self::WriteFailed,
        Self::Inconclusive,
        Self::Regressed,
        Self::Pending,
        Self::DeviceUnavailable,
        Self::Interrupted,
        Self::Unreferenced,
    ];

    /// Its meaning, in one line, for the help and the documents.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Ok => "every test that ran passed, and at least one ran",
            Self::Usage => "the command line is not valid",
            Self::NoTests => "no test matched, or none could run",
            Self::BadFilter => {
                "a filter expression is not valid, or asks for something that no test has"
            }
            Self::Setup => {
                "there is no adapter or no weights, or a gate does not follow the protocol"
            }
            Self::TestsFailed => "a test failed, crashed or timed out",
            Self::BuildFailed => "the adapters did not build",
            Self::MetadataFailed => "`cargo metadata` failed",
            Self::ListingFailed => "a gate could not list its tests",
            Self::WriteFailed => "a file could not be written",
            Self::Inconclusive => "no test failed, but one could not judge or could not run",
            Self::Regressed => "no test failed, but one got worse than its baseline, or is gone",
            Self::Pending => "changes are pending, and `review` has no terminal",
            Self::DeviceUnavailable => {
                "the device is missing where required, was held too long, or `doctor` found a problem"
            }
            Self::Interrupted => "interrupted",
            Self::Unreferenced => {
                "baselines or goldens that nothing refers to, under --unreferenced reject"
            }
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_there_once_in_ascending_order() {
        let codes = ExitCode::ALL.map(|code| code as u8);
        assert_eq!(codes, [0, 2, 4, 94, 96, 100, 101, 102, 104, 110, 119, 120, 121, 122, 123, 124]);
        // One line of the help each.
        assert!(ExitCode::ALL.iter().all(|code| code.description().len() < 90));
    }
}

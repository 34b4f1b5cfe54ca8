//! Exit codes, the same for `cargo npugate` and for a gate binary run by hand
//! where their meanings meet.

use std::process;

/// How `cargo npugate` ends. Codes shared with cargo-nextest keep its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ExitCode {
    /// Every test that ran passed, and at least one ran.
    Ok = 0,
    /// The command line makes no sense.
    Usage = 2,
    /// No test matched.
    NoTests = 4,
    /// A filter expression that cannot be read, or that asks for what no test has.
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
    /// The device is missing under `--require-device`, or another process held it
    /// until the deadline.
    DeviceUnavailable = 122,
    /// Interrupted.
    Interrupted = 123,
    /// A baseline or golden that nothing refers to, under `--unreferenced reject`.
    Unreferenced = 124,
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

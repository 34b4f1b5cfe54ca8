//! What a run asked of its device.

use serde::{Deserialize, Serialize};

/// What a run asked of its device, not counting the setup.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
pub struct DeviceUsage {
    /// Programs run.
    pub dispatches: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Bytes read back.
    pub bytes_read: u64,
    /// Milliseconds spent in writes.
    pub write_ms: f64,
    /// Milliseconds spent in runs.
    pub run_ms: f64,
    /// Milliseconds spent in reads.
    pub read_ms: f64,
}

impl std::fmt::Display for DeviceUsage {
    /// One line for people.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        write!(
            f,
            "{} dispatches, {:.1} MB written in {:.1} ms, run in {:.1} ms, {:.1} MB read in {:.1} ms",
            self.dispatches,
            megabytes(self.bytes_written),
            self.write_ms,
            self.run_ms,
            megabytes(self.bytes_read),
            self.read_ms
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_one_line() {
        let usage = DeviceUsage {
            dispatches: 12,
            bytes_written: 1_250_000,
            bytes_read: 40_000,
            write_ms: 1.0,
            run_ms: 20.25,
            read_ms: 0.5,
        };
        assert_eq!(
            usage.to_string(),
            "12 dispatches, 1.2 MB written in 1.0 ms, run in 20.2 ms, 0.0 MB read in 0.5 ms"
        );
    }
}

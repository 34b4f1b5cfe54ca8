//! What the fake logs: a trace if `FAKE_XDNA_LOG=1`, and reasons that a driver would not give.

use std::fmt;

use crate::faults;

/// One line of the trace of calls.
pub fn trace(line: fmt::Arguments<'_>) {
    if faults::get().is_ok_and(|faults| faults.log) {
        eprintln!("[fake-amdxdna] {line}");
    }
}

/// Logs why a command did not complete. Real firmware is silent, which does not help in a test.
pub fn complain(line: fmt::Arguments<'_>) {
    eprintln!("[fake-amdxdna] {line}");
}

//! What the fake says: a trace where `FAKE_XDNA_LOG=1` asks for it, and what a driver would leave
//! unsaid.

use std::fmt;

use crate::faults;

/// One line of the trace of calls.
pub fn trace(line: fmt::Arguments<'_>) {
    if faults::get().is_ok_and(|faults| faults.log) {
        eprintln!("[fake-amdxdna] {line}");
    }
}

/// Why a command did not complete: real firmware says nothing, which helps nobody in a test.
pub fn complain(line: fmt::Arguments<'_>) {
    eprintln!("[fake-amdxdna] {line}");
}

//! The unmodified XRT on the double of the kernel driver: `ci.sh` runs these.
//!
//! XRT needs a newer C library than the machine has, and each fault needs a process of its own. So
//! a test starts this program again, under `runner.sh`, to play one scenario.
//! `NPUGATE_TEST_XRT_ROOT` names the folder that `ci.sh` made; without it, everything is skipped.
//!
//! These tests show that the host's side is right: calls, packets, lifetimes, errors. They are not
//! evidence from hardware.

#![expect(clippy::unwrap_used, reason = "a test says no more than the error itself does")]

#[path = "real_xrt/child.rs"]
mod child;
#[path = "real_xrt/design.rs"]
mod design;
#[path = "real_xrt/faults.rs"]
mod faults;
#[path = "real_xrt/files.rs"]
mod files;
#[path = "real_xrt/runs.rs"]
mod runs;
#[path = "real_xrt/scenario.rs"]
mod scenario;
#[path = "real_xrt/vectors.rs"]
mod vectors;

//! The unmodified XRT on the double of the kernel driver: `ci.sh` runs these.
//!
//! XRT needs a newer C library than the machine's, and each fault needs a process of its own, so a
//! test starts this program again, below `runner.sh`, to play one scenario. It takes the folder that
//! `ci.sh` made from `NPUGATE_TEST_XRT_ROOT`; without it everything is skipped.
//!
//! What passes here shows that the host's side is right: calls, packets, lifetimes, errors. It is no
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

//! `cargo npugate doctor` and `cargo npugate device`: what NPU a machine has, what the NPU
//! needs, and what is wrong with it.
//!
//! Everything is read from the files of a [`System`], which tests replace by trees, and
//! from opening the device node. No library is loaded and no program is run, so that both
//! commands work where nothing is installed, and do not disturb other programs.

mod buffers;
mod check;
mod checks;
mod describe;
mod driver;
mod finding;
mod generation;
mod machine;
mod node;
mod npu;
mod process;
mod system;
#[cfg(test)]
mod tests;
mod text;
#[cfg(test)]
mod tree;
mod xrt;

pub use buffers::ModelBuffers;
pub use describe::describe;
pub use machine::Machine;
pub use system::{SYSTEM_ROOT_VAR, System};
pub use text::{Detail, device_text, summary, text};

use check::{CHECKS, Check};
use npugate_schema::{EXAMINATION_SCHEMA, Examination};

/// The name in `--device` of the device that the checks are about.
pub const DEVICE: &str = "xrt";

/// Runs all checks.
pub fn examine(machine: &Machine) -> Examination {
    Examination {
        schema: EXAMINATION_SCHEMA.to_owned(),
        device: DEVICE.to_owned(),
        checks: CHECKS.iter().map(|check: &Check| check.examine(machine)).collect(),
    }
}

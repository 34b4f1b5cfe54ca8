//! What the black-box tests share: a device with a fault, and the `cargo npugate`
//! command.
#![allow(clippy::missing_panics_doc, reason = "tests fail by panics")]

pub mod command;
pub mod faulty;
pub mod workspace;

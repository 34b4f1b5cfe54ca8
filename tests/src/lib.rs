//! What the black-box tests share: a device with a fault in it, and the
//! `cargo npugate` command.

pub mod command;
pub mod faulty;
pub mod workspace;

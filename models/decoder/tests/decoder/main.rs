//! The decoder on the emulated NPU, on a small random model.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod adapter;
mod errors;
mod forward;
mod model;
mod options;
mod plain;
mod weight_files;

//! See `../../gate.rs`.

include!("../../gate.rs");

//! The gates of this model: `cargo test -p smollm2-135m -- FILTER`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    npugate::main(smollm2_135m::adapter())
}

//! The gates of this model: `cargo test -p tiny-llama -- FILTER`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    npugate::main(tiny_llama::adapter())
}

//! `cargo npugate`: see the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_npugate::main()
}

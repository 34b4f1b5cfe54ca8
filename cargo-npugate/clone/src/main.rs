//! `cargo npugate` in a clone of this repository, built as the rest of the workspace is.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_npugate::main()
}

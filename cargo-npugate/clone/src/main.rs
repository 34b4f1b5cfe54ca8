//! `cargo npugate` in a clone of this repository, built like the rest of the workspace.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_npugate::main()
}

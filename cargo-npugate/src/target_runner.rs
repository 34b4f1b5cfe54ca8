//! The program under which cargo runs what it builds, if one is configured: an emulator, or the
//! loader of another C library.
//!
//! It is taken from `CARGO_TARGET_<TRIPLE>_RUNNER`, as in `cargo test`. (The same setting in a
//! `.cargo/config.toml` is not read.)

use std::{
    env::{self, consts},
    ffi::OsString,
};

/// The runner's program and its arguments; empty if there is no runner.
pub fn target_runner() -> Vec<String> {
    find(env::vars_os())
}

fn find(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<String> {
    let (start, end) = name();
    let runner = variables.into_iter().find(|(name, value)| {
        let name = name.to_string_lossy();
        !value.is_empty() && name.starts_with(&start) && name.ends_with(&end)
    });
    runner
        .map(|(_, value)| value.to_string_lossy().split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default()
}

/// The start and the end of the variable's name. Between them is the vendor of this machine's
/// triple, which does not matter.
fn name() -> (String, String) {
    let environment = if cfg!(target_env = "gnu") {
        "_GNU"
    } else if cfg!(target_env = "musl") {
        "_MUSL"
    } else {
        ""
    };
    let start = format!("CARGO_TARGET_{}_", consts::ARCH.to_uppercase());
    (start, format!("_{}{environment}_RUNNER", consts::OS.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, value: &str) -> Vec<String> {
        find([("CARGO".into(), "cargo".into()), (name.into(), value.into())])
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    fn the_runner_of_this_machine_is_found_with_its_arguments() {
        let name = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";
        assert_eq!(found(name, "/opt/run  --fast"), ["/opt/run", "--fast"]);
        assert!(found(name, "").is_empty());
    }

    #[test]
    fn the_runner_of_another_machine_is_ignored() {
        assert!(found("CARGO_TARGET_THUMBV7M_NONE_EABI_RUNNER", "qemu-system-arm").is_empty());
        assert!(found("RUNNER", "/opt/run").is_empty());
    }
}

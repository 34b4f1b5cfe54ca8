//! Tests a gate binary from outside: the protocols of cargo, nextest and the command,
//! pipes, variables and exit codes.
//!
//! This program plays both sides: with `TOY` in the environment it is the gate binary of
//! a toy adapter; otherwise it runs the tests below, which start it again as such a binary.
//! This is why it has its own `main`, and libtest-mimic runs the tests.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod baselines;
mod errors;
mod events;
mod gate;
mod generate;
mod lock;
mod own;
mod protocol;
mod schemas;
mod toy;

use libtest_mimic::{Arguments, Trial};
use std::{env, process::ExitCode};

fn main() -> ExitCode {
    if let Ok(name) = env::var("TOY") {
        return toy::main(&name);
    }
    let mut trials = protocol::trials();
    trials.extend(baselines::trials());
    trials.extend(errors::trials());
    trials.extend(events::trials());
    trials.extend(generate::trials());
    trials.extend(lock::trials());
    trials.extend(own::trials());
    trials.extend(schemas::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Trials of functions, named by module and function.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            let module = module_path!().rsplit("::").next().unwrap_or_default();
            vec![$($crate::trial(module, stringify!($name), $name)),*]
        }
    };
}
use trials;

fn trial(module: &str, name: &str, test: fn()) -> Trial {
    Trial::test(format!("{module}::{name}"), move || {
        test();
        Ok(())
    })
}

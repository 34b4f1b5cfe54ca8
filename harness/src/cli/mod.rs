//! The main function of a gate binary.
//!
//! It speaks libtest's command line, so that `cargo test`, IDEs and nextest can
//! run it, and adds a few flags. The command line goes through two stages: what
//! was typed ([`typed`], parsed by clap, without any I/O), and what it resolves to in
//! this environment ([`resolved`]).
//!
//! libtest-mimic says which tests a filter selects and which of those are ignored
//! (`Arguments`, in [`select`]), and counts the outcomes (`Conclusion`, in [`run`]).
//! Its `libtest_mimic::run` would replace the 330 lines of [`printer`] and 40 of
//! [`run`], and would lose:
//!
//! - a reader that leaves: it panics at `--list | head -1`, and ends with 101;
//! - the reasons of ignored tests: `with_ignored_flag` takes a bool;
//! - the words *invalid*, *regressed* and *waived*, the verdicts of passing tests,
//!   `--report-time`, the seed of a shuffle, the listing in JSON;
//! - the end of a run at its first failure or when its device is lost: it runs every
//!   trial that it is given.

mod error;
mod events;
mod generate;
mod help;
mod list;
mod marks;
mod output;
mod printer;
mod resolved;
mod run;
mod select;
mod shuffle;
mod typed;
mod usage;

use crate::schema::{Access, DEVICE_LOCK_DEADLINE, DeviceLock, ExitCode};
use crate::{Adapter, Baselines, Effort, Suite};
use anstream::AutoStream;
use clap::ColorChoice;
use error::{CliError, TEST_FAILED};
use events::Events;
use output::UntilClosed;
use resolved::{Lock, Resolved, Task};
use run::Sinks;
use std::{
    env,
    io::{self, Write},
    process,
    sync::Arc,
};
use typed::Typed;

/// What a smoke run says about itself at its end.
const SMOKE: &str = "smoke run: kernels ran on a few rows, and nothing was compared with the baseline; \
     this does not replace a full run";

/// What a run that ignores baselines says about itself at its end.
const IGNORING: &str = "nothing was compared with the baseline";

/// Runs an adapter's tests as the command line says: the whole `main` of a gate
/// binary. `--help` lists the flags.
///
/// The exit code is 0 if every test that ran passed, 101 if one did not (as
/// with libtest), 2 if the command line is not valid, 4 if a name given with
/// `--exact` selects no test, 96 if something that `--generate` needs is missing,
/// 110 if a file cannot be written, and 122 if another process holds the device.
pub fn main(adapter: impl Adapter) -> process::ExitCode {
    let adapter: Arc<dyn Adapter> = Arc::new(adapter);
    let env = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let result = Typed::parse_args(env::args_os().skip(1))
        .and_then(|typed| Resolved::new(typed, &env))
        .map_err(CliError::from)
        .and_then(|resolved| {
            let stdout = AutoStream::new(io::stdout(), color_choice(&resolved));
            let mut out = UntilClosed::new(stdout);
            perform(&adapter, resolved, &mut out, &mut io::stderr())
        });
    let code = result.unwrap_or_else(|error| {
        // Standard error may be closed: the exit code still says it.
        let _ = writeln!(io::stderr(), "error: {error}");
        error.exit_code()
    });
    code.into()
}

/// A run is printed in colour; everything else is printed as it is, because the
/// text of a model may contain what looks like a colour.
fn color_choice(resolved: &Resolved) -> anstream::ColorChoice {
    match (&resolved.task, resolved.output.color) {
        (Task::Run, ColorChoice::Auto) => anstream::ColorChoice::Auto,
        (Task::Run, ColorChoice::Always) => anstream::ColorChoice::Always,
        (Task::Run, ColorChoice::Never) => anstream::ColorChoice::Never,
        _ => anstream::ColorChoice::AlwaysAnsi,
    }
}

fn perform(
    adapter: &Arc<dyn Adapter>,
    resolved: Resolved,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let Resolved { task, context, selection, run, output, events, marks, lock } = resolved;
    let suite = || Suite::new(adapter.clone(), context.clone());
    match task {
        Task::Help => print(out, &help::text(adapter.name()))?,
        Task::Describe => {
            let description = serde_json::to_string(suite()?.description())
                .map_err(|error| CliError::stdout(error.into()))?;
            print(out, &(description + "\n"))?;
        }
        Task::List => {
            let suite = suite()?;
            let choice = selection.choose(suite.plan());
            list::print(out, adapter.name(), &choice.tests, output.format)
                .and_then(|()| out.flush())
                .map_err(CliError::stdout)?;
            choice.matched()?;
        }
        Task::Generate { prompt, max_tokens } => {
            let model =
                adapter.model().ok_or_else(|| CliError::NoModel(adapter.name().to_owned()))?;
            // The suite is what checks the device and the settings.
            let suite = suite()?;
            let _device = take_device(&suite, lock, err)?;
            let events = Events::open(events)?;
            generate::generate(model, suite.context(), &prompt, max_tokens, out, err, events)?;
        }
        Task::Run => {
            let suite = suite()?;
            let choice = selection.choose(suite.plan());
            choice.matched()?;
            let _device = take_device(&suite, lock, err)?;
            let events = Events::open(events)?;
            let printer = printer::of(output, &choice.tests);
            let sinks = Sinks { printer, out, err: &mut *err, events, marks };
            let conclusion = run::run(
                choice,
                suite.description(),
                &run,
                sinks,
                |name| suite.run(name),
                || suite.has_lost_its_device(),
            )?;
            if let Some(reason) = suite.description().baselines.refusal() {
                // As below.
                let _ = writeln!(err, "{IGNORING}: {reason}");
            }
            if context.effort == Effort::Smoke {
                // Standard error may be closed, and the run is over.
                let _ = writeln!(err, "{SMOKE}");
            } else if context.baselines == Baselines::Ignore {
                let _ = writeln!(err, "{IGNORING}");
            }
            if conclusion.has_failed() {
                return Ok(TEST_FAILED);
            }
        }
    }
    Ok(ExitCode::Ok)
}

/// Takes the lock on an exclusive device, unless the caller holds it: a gate that
/// is run by hand or by nextest may be one of several.
fn take_device(
    suite: &Suite,
    lock: Lock,
    err: &mut dyn Write,
) -> Result<Option<DeviceLock>, CliError> {
    let path = match lock {
        Lock::Take(path) if suite.description().access == Access::Exclusive => path,
        _ => return Ok(None),
    };
    let mut has_said_so = false;
    let waiting = |holder| {
        if !std::mem::replace(&mut has_said_so, true) {
            // Standard error may be closed: the wait goes on.
            let _ = writeln!(err, "waiting for the NPU, held by {holder}");
        }
    };
    Ok(Some(DeviceLock::acquire(&path, DEVICE_LOCK_DEADLINE, waiting, || true)?))
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), CliError> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CliError::stdout)
}

//! The main function of a gate binary.
//!
//! It speaks libtest's command line, so that `cargo test`, IDEs and nextest can
//! run it, and a few flags more. The command line goes through two stages: what
//! was typed ([`typed`], from the table in [`flag`], without any I/O), and what
//! that comes to in this environment ([`resolved`]). libtest-mimic decides what
//! is selected and what a conclusion's exit code is; running and printing are
//! done here, where outcomes, reasons and verdicts are known.

mod error;
mod events;
mod flag;
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

use crate::schema::{Access, DEVICE_LOCK_DEADLINE, DeviceLock, ExitCode};
use crate::{Adapter, Baselines, Effort, Suite};
use anstream::{AutoStream, ColorChoice};
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
use typed::{Color, Typed};

/// What a smoke run says of itself at its end.
const SMOKE: &str =
    "smoke run: kernels on few rows, nothing was compared with the baseline; no gate of a full run";

/// What a run says of itself at its end that ignores baselines.
const IGNORING: &str = "nothing was compared with the baseline";

/// Runs an adapter's tests as the command line says: the whole `main` of a gate
/// binary. `--help` lists the flags.
///
/// The exit code is 0 if every test that ran passed, 101 if one did not (as
/// with libtest), 2 for a command line that makes no sense, 4 if a name given
/// with `--exact` selects no test, 96 if something that generating text needs
/// is missing, and 110 if a file cannot be written.
pub fn main(adapter: impl Adapter) -> process::ExitCode {
    let adapter: Arc<dyn Adapter> = Arc::new(adapter);
    let env = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let result = Typed::parse(env::args_os().skip(1))
        .and_then(|typed| Resolved::new(typed, &env))
        .map_err(CliError::from)
        .and_then(|resolved| {
            let stdout = AutoStream::new(io::stdout(), color_choice(&resolved));
            let mut out = UntilClosed::new(stdout);
            perform(&adapter, resolved, &mut out, &mut io::stderr())
        });
    let code = result.unwrap_or_else(|error| {
        // Standard error may be closed: the exit code still tells.
        let _ = writeln!(io::stderr(), "error: {error}");
        error.exit_code()
    });
    code.into()
}

/// What a run prints is coloured; everything else goes out as it is, since a
/// model may well say what looks like a colour.
fn color_choice(resolved: &Resolved) -> ColorChoice {
    match (&resolved.task, resolved.output.color) {
        (Task::Run, Color::Auto) => ColorChoice::Auto,
        (Task::Run, Color::Always) => ColorChoice::Always,
        (Task::Run, Color::Never) => ColorChoice::Never,
        _ => ColorChoice::AlwaysAnsi,
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

/// Takes the lock on an exclusive device, unless the caller holds it: whoever
/// runs this binary by hand or through nextest is one of several too.
fn take_device(
    suite: &Suite,
    lock: Lock,
    err: &mut dyn Write,
) -> Result<Option<DeviceLock>, CliError> {
    let path = match lock {
        Lock::Take(path) if suite.description().access == Access::Exclusive => path,
        _ => return Ok(None),
    };
    let mut told = false;
    let waiting = |holder| {
        if !std::mem::replace(&mut told, true) {
            // Standard error may be closed: the wait goes on.
            let _ = writeln!(err, "waiting for the NPU, held by {holder}");
        }
    };
    Ok(Some(DeviceLock::acquire(&path, DEVICE_LOCK_DEADLINE, waiting, || true)?))
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), CliError> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CliError::stdout)
}

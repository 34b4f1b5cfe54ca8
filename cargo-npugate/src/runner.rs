//! Running tests. A run schedules models ([`schedule`]). A model's turn is one pass over its
//! tests, and further passes over those that are retried ([`model`]). A pass takes one
//! process, or as many as crashes and hangs make necessary ([`pass`]). What happens is
//! reported to [`Consumer`]s as it happens.

mod error;
mod events;
pub mod gone;
mod group;
mod model;
mod no_verdict;
mod output;
mod pass;
mod plan;
mod process;
mod result;
mod schedule;
mod stop;
mod tracker;
mod update;
mod watch;

use crate::cli::DeviceArgs;
use crate::gate::Gate;
use crate::lock::LockPolicy;
use crate::selection::Selection;
use crate::settings::TestSettings;
use jiff::civil::Date;
use npugate_schema::Event;
use std::{
    ffi::{OsStr, OsString},
    num::NonZero,
    process::ExitStatus,
};

pub use error::RunError;
pub use no_verdict::NoVerdict;
pub use output::Capture;
pub use plan::{ModelPlan, PlannedTest};
pub use result::{Blocked, ModelResult, Tried};
pub use schedule::{run, without_device};
pub use stop::{Brake, Stop};
pub use update::{Attempt, Consumer, Happening, Update};

/// How all tests of a run are run.
#[derive(Debug)]
pub struct RunOptions {
    /// Which tests to run.
    pub selection: Selection,
    /// The device, and its settings.
    pub device: DeviceArgs,
    /// What to do with the gates' output.
    pub capture: Capture,
    /// How many models run in parallel.
    pub jobs: NonZero<usize>,
    /// What ends the run early.
    pub brake: Brake,
    /// Who ensures that only one process at a time uses an NPU.
    pub lock: LockPolicy,
    /// Variables that the gates get.
    pub variables: Vec<(&'static OsStr, OsString)>,
    /// The day for which waivers must be valid.
    pub today: Date,
}

/// Lets a gate generate text, which it prints to this program's stdout and stderr.
///
/// # Errors
///
/// The gate cannot be started, or its events cannot be followed.
pub fn generate(gate: &Gate, args: Vec<OsString>) -> Result<(ExitStatus, Option<Event>), RunError> {
    let events =
        tempfile::NamedTempFile::with_prefix("npugate-events-").map_err(RunError::Events)?;
    let mut generated = None;
    let followed = process::Followed {
        command: gate.run_command(args, events.path()),
        events: events.path(),
        capture: Capture::Show,
        brake: &Brake::default(),
        settings_of: |_: &str| TestSettings::unlimited(),
        idle: TestSettings::unlimited(),
    };
    let ended = process::follow(followed, |told| {
        if let process::Told::Event(event @ Event::Generated { .. }, _) = told {
            generated = Some(event);
        }
    })?;
    Ok((ended.status, generated))
}

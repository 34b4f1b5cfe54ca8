//! How a run as a whole is scheduled: as typed, or else as the profile says.

use crate::cli::RunArgs;
use crate::environment::{Environment, Held};
use crate::lock::LockPolicy;
use crate::profile::{MaxFail, Profile, Span};
use npugate_schema::{DEVICE_LOCK, DEVICE_LOCK_DEADLINE};
use std::{num::NonZero, path::PathBuf};

/// How a run as a whole is scheduled, as far as it was typed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scheduling {
    /// How many models run in parallel.
    pub jobs: Option<NonZero<usize>>,
    /// The number of failures that ends the run.
    pub max_fail: Option<MaxFail>,
    /// What to do if the device is missing.
    pub missing_device: MissingDevice,
    /// Who locks an exclusive device.
    pub lock: Lock,
}

/// What to do if the device is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MissingDevice {
    /// Skip its tests.
    #[default]
    Skip,
    /// Fail.
    Refuse,
}

/// Who locks an exclusive device, as far as it was typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lock {
    /// This run.
    Take { path: Option<PathBuf>, deadline: Option<Span> },
    /// The caller, or nobody.
    Leave,
}

impl Default for Lock {
    fn default() -> Self {
        Self::Take { path: None, deadline: None }
    }
}

impl Scheduling {
    /// The schedule as typed, or else as set in the environment.
    pub fn of(args: &RunArgs, environment: &Environment) -> Self {
        Self {
            jobs: args.jobs,
            max_fail: match (args.fail_fast, args.no_fail_fast, args.max_fail) {
                (true, _, _) => Some(MaxFail::After(NonZero::<usize>::MIN)),
                (_, true, _) => Some(MaxFail::Never),
                (_, _, limit) => limit.map(MaxFail::After),
            },
            missing_device: if args.require_device {
                MissingDevice::Refuse
            } else {
                MissingDevice::Skip
            },
            lock: if args.no_lock || environment.lock == Held::ByCaller {
                Lock::Leave
            } else {
                let path = args.lock.clone().or_else(|| environment.lock_path.clone());
                Lock::Take { path, deadline: args.lock_timeout }
            },
        }
    }

    /// How many models run in parallel: as typed, or else as the profile says, or else
    /// one, because each uses all cores.
    pub fn jobs(&self, profile: &Profile) -> NonZero<usize> {
        let profile = profile.values.jobs.as_deref().copied();
        self.jobs.or(profile).unwrap_or(NonZero::<usize>::MIN)
    }

    /// The number of failures that ends the run, if any does.
    pub fn max_fail(&self, profile: &Profile) -> Option<NonZero<usize>> {
        let profile = profile.values.max_fail.as_deref().copied();
        match self.max_fail.or(profile) {
            Some(MaxFail::After(limit)) => Some(limit),
            Some(MaxFail::Never) | None => None,
        }
    }

    /// Who locks an exclusive device, and how.
    pub fn lock(&self, profile: &Profile) -> LockPolicy {
        match &self.lock {
            Lock::Leave => LockPolicy::Leave,
            Lock::Take { path, deadline } => {
                let values = &profile.values;
                let path = path.clone().or_else(|| values.lock.as_deref().cloned());
                let deadline = deadline.or_else(|| values.lock_timeout.as_deref().copied());
                LockPolicy::Take {
                    path: path.unwrap_or_else(|| DEVICE_LOCK.into()),
                    deadline: deadline.map_or(DEVICE_LOCK_DEADLINE, Span::duration),
                }
            }
        }
    }
}

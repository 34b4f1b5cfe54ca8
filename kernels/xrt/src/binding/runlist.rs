//! Several runs with one submission.

#![expect(unsafe_code, reason = "calls the shim")]

use std::mem::{self, ManuallyDrop};

use super::{
    Context, Deadline, Run, RunState,
    abi::NpgRunlist,
    handle::Handle,
    run::{Progress, leaked},
};
use crate::Error;

/// Runs of one context that are submitted together and run in order.
///
/// It owns its runs, so that none can be changed or freed while the device is at them:
/// [`take`](Self::take) gives them back. A list that is in progress when it is dropped is leaked,
/// as a [`Run`] is.
#[derive(Debug)]
pub struct RunList {
    held: ManuallyDrop<Held>,
    progress: Progress,
}

/// Fields are dropped in this order.
#[derive(Debug)]
struct Held {
    handle: Handle<NpgRunlist>,
    runs: Vec<Run>,
    context: Context,
}

impl RunList {
    pub(super) fn new(context: &Context) -> Result<Self, Error> {
        let shim = context.handle().shim();
        let handle = Handle::make(shim, "runlist_new", |functions, out, error| {
            // SAFETY: the context lives, and `out` and `error` are valid for writes.
            unsafe { (functions.npg_runlist_new)(context.handle().get(), out, error) }
        })?;
        let held = Held { handle, runs: Vec::new(), context: context.clone() };
        Ok(Self { held: ManuallyDrop::new(held), progress: Progress::Idle })
    }

    /// The context whose kernels it runs.
    pub fn context(&self) -> &Context {
        &self.held.context
    }

    /// Adds a run at the end.
    ///
    /// # Errors
    /// If a buffer of it is not set, or it or the list is in progress. The run is dropped then.
    pub fn add(&mut self, run: Run) -> Result<(), Error> {
        self.check_idle()?;
        run.check_ready()?;
        let handle = &self.held.handle;
        handle.shim().call("runlist_add", |functions, error| {
            // SAFETY: both handles live; the list holds on to the run.
            unsafe { (functions.npg_runlist_add)(handle.get(), run.handle().get(), error) }
        })?;
        self.held.runs.push(run);
        Ok(())
    }

    /// Submits all runs.
    ///
    /// # Errors
    /// If the list is in progress or empty, or the driver refuses it.
    pub fn start(&mut self) -> Result<(), Error> {
        self.check_idle()?;
        if self.held.runs.is_empty() {
            return Err(Error::EmptyList);
        }
        let handle = &self.held.handle;
        handle.shim().call("runlist_execute", |functions, error| {
            // SAFETY: the handle lives.
            unsafe { (functions.npg_runlist_execute)(handle.get(), error) }
        })?;
        self.progress = Progress::Started;
        Ok(())
    }

    /// Waits until the last run has ended. Only a list of which every run completed is a success.
    ///
    /// # Errors
    /// As [`Run::wait`].
    pub fn wait(&mut self, deadline: Deadline) -> Result<(), Error> {
        if self.progress == Progress::Idle {
            return Err(Error::NotStarted { kernel: self.name() });
        }
        let handle = &self.held.handle;
        let waited = handle.shim().wait("runlist_wait", |functions, error| {
            // SAFETY: the handle lives, and `self` is ours alone until the wait is over.
            unsafe { (functions.npg_runlist_wait)(handle.get(), deadline.milliseconds(), error) }
        });
        if waited.is_ok() || self.has_ended() {
            self.progress = Progress::Idle;
        }
        waited.map_err(Error::from)
    }

    /// The list's state now. XRT 2.25 says that a list has completed whose runs failed:
    /// [`wait`](Self::wait) alone tells.
    ///
    /// # Errors
    /// If XRT fails.
    pub fn state(&self) -> Result<RunState, Error> {
        let handle = &self.held.handle;
        let mut state = 0;
        handle.shim().call("runlist_state", |functions, error| {
            // SAFETY: the handle lives, and the pointers are to locals of the declared types.
            unsafe { (functions.npg_runlist_state)(handle.get(), &raw mut state, error) }
        })?;
        Ok(RunState::from_raw(state))
    }

    /// Empties the list, and gives its runs back in order.
    ///
    /// # Errors
    /// If the list is in progress.
    pub fn take(&mut self) -> Result<Vec<Run>, Error> {
        self.check_idle()?;
        let handle = &self.held.handle;
        handle.shim().call("runlist_reset", |functions, error| {
            // SAFETY: the handle lives.
            unsafe { (functions.npg_runlist_reset)(handle.get(), error) }
        })?;
        Ok(mem::take(&mut self.held.runs))
    }

    fn check_idle(&self) -> Result<(), Error> {
        match self.progress {
            Progress::Idle => Ok(()),
            Progress::Started => Err(Error::InProgress { kernel: self.name() }),
        }
    }

    fn has_ended(&self) -> bool {
        self.state().is_ok_and(RunState::has_ended)
    }

    /// For messages: the first kernel of the list.
    fn name(&self) -> String {
        let first = self.held.runs.first();
        first.map_or_else(|| "an empty list".to_owned(), |run| run.kernel().name().to_owned())
    }
}

impl Drop for RunList {
    fn drop(&mut self) {
        if self.progress == Progress::Started && !self.has_ended() {
            if let Some(run) = self.held.runs.first() {
                leaked(run.kernel());
            }
            return;
        }
        // SAFETY: `held` is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.held) }
    }
}

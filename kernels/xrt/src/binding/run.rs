//! One command for the device.
//!
//! A run that is in progress must not be freed: the device would still read and write memory that
//! has another owner by then. There is no way to stop it (XRT's abort sends a packet that the
//! driver does not know, and waits for it without limit). So a run that is dropped while it is in
//! progress is leaked, with its buffers, kernel, context and device, and a line on stderr says so.
//! End the process: the driver then stops the device.

#![expect(unsafe_code, reason = "calls the shim")]

use std::mem::ManuallyDrop;

use super::{Buffer, Deadline, Kernel, abi::NpgRun, handle::Handle};
use crate::Error;

/// One command for the device: a kernel with its buffers. It can be started any number of times.
#[derive(Debug)]
pub struct Run {
    held: ManuallyDrop<Held>,
    progress: Progress,
}

/// Fields are dropped in this order.
#[derive(Debug)]
struct Held {
    handle: Handle<NpgRun>,
    buffers: Vec<Option<Buffer>>,
    kernel: Kernel,
}

/// Whether the device may be working on the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// It is not working on it.
    Idle,
    /// The command was started, and has not been seen to end.
    Started,
}

/// The state of a command: `ert_cmd_state`. The order of the numbers is not an order in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RunState {
    /// Not started, or not yet seen by the driver.
    New,
    /// Queued, running, or handed to the device.
    InProgress,
    /// The command succeeded; no other state is a success.
    Completed,
    /// The command failed.
    Error,
    /// The command was aborted.
    Aborted,
    /// The driver gave up on the command.
    Timeout,
    /// The firmware did not answer.
    NoResponse,
    /// Anything else.
    Unknown(i32),
}

impl RunState {
    /// The state with this number in `ert.h`.
    pub const fn from_raw(state: i32) -> Self {
        match state {
            1 => Self::New,
            2 | 3 | 7 => Self::InProgress,
            4 => Self::Completed,
            5 => Self::Error,
            6 => Self::Aborted,
            8 => Self::Timeout,
            9 => Self::NoResponse,
            other => Self::Unknown(other),
        }
    }

    /// Whether the device is done with the command, successfully or not.
    pub const fn has_ended(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Error | Self::Aborted | Self::Timeout | Self::NoResponse
        )
    }
}

impl Run {
    pub(super) fn new(kernel: &Kernel) -> Result<Self, Error> {
        let shim = kernel.handle().shim();
        let handle = Handle::make(shim, "run_new", |functions, out, error| {
            // SAFETY: the kernel lives, and `out` and `error` are valid for writes.
            unsafe { (functions.npg_run_new)(kernel.handle().get(), out, error) }
        })?;
        let buffers = vec![None; kernel.buffers().unwrap_or(0)];
        let held = ManuallyDrop::new(Held { handle, buffers, kernel: kernel.clone() });
        Ok(Self { held, progress: Progress::Idle })
    }

    /// The kernel that it runs.
    pub fn kernel(&self) -> &Kernel {
        &self.held.kernel
    }

    /// Sets the buffer at `index`, for this and all later starts.
    ///
    /// # Errors
    /// If the kernel has no such buffer, or the run is in progress.
    pub fn set_buffer(&mut self, index: usize, buffer: &Buffer) -> Result<(), Error> {
        let arg = self.kernel().position(index)?;
        self.set_argument(arg, buffer)?;
        let buffers = &mut self.held.buffers;
        if buffers.len() <= index {
            buffers.resize(index + 1, None);
        }
        if let Some(place) = buffers.get_mut(index) {
            *place = Some(buffer.clone());
        }
        Ok(())
    }

    /// Submits the command. Buffers that the kernel reads must have been synced.
    ///
    /// # Errors
    /// If a buffer is not set, the run is in progress, or the driver refuses the command.
    pub fn start(&mut self) -> Result<(), Error> {
        self.check_ready()?;
        let handle = &self.held.handle;
        handle.shim().call("run_start", |functions, error| {
            // SAFETY: the handle lives.
            unsafe { (functions.npg_run_start)(handle.get(), error) }
        })?;
        self.progress = Progress::Started;
        Ok(())
    }

    /// Waits until the command has ended. Only a command that completed is a success.
    ///
    /// # Errors
    /// [`Error::HostTimeout`] if the deadline passes first: the run is then still in progress.
    /// After any other error except [`Error::NotStarted`], it is in progress only if
    /// [`state`](Self::state) says so.
    pub fn wait(&mut self, deadline: Deadline) -> Result<(), Error> {
        if self.progress == Progress::Idle {
            return Err(Error::NotStarted { kernel: self.kernel().name().to_owned() });
        }
        let handle = &self.held.handle;
        let waited = handle.shim().wait("run_wait", |functions, error| {
            // SAFETY: the handle lives, and nothing else uses `self` until the wait is over.
            unsafe { (functions.npg_run_wait)(handle.get(), deadline.milliseconds(), error) }
        });
        if waited.is_ok() || self.has_ended() {
            self.progress = Progress::Idle;
        }
        waited.map_err(Error::from)
    }

    /// The current state of the command.
    ///
    /// # Errors
    /// If XRT fails.
    pub fn state(&self) -> Result<RunState, Error> {
        let handle = &self.held.handle;
        let mut state = 0;
        handle.shim().call("run_state", |functions, error| {
            // SAFETY: the handle lives, and the pointers are to locals of the declared types.
            unsafe { (functions.npg_run_state)(handle.get(), &raw mut state, error) }
        })?;
        Ok(RunState::from_raw(state))
    }

    /// Sets an argument by its position in the kernel's own list.
    pub(super) fn set_argument(&mut self, arg: i32, buffer: &Buffer) -> Result<(), Error> {
        self.check_idle()?;
        let handle = &self.held.handle;
        handle.shim().call("run_set_buffer", |functions, error| {
            // SAFETY: both handles live; the caller keeps the buffer alive as long as the run.
            unsafe {
                (functions.npg_run_set_buffer)(handle.get(), arg, buffer.handle().get(), error)
            }
        })
    }

    /// Sets an argument that is a number.
    pub(super) fn set_scalar(&mut self, arg: i32, value: &[u8]) -> Result<(), Error> {
        self.check_idle()?;
        let handle = &self.held.handle;
        handle.shim().call("run_set_scalar", |functions, error| {
            let (bytes, len) = (value.as_ptr().cast(), value.len());
            // SAFETY: the handle lives, and `bytes` points to `len` bytes, which are copied.
            unsafe { (functions.npg_run_set_scalar)(handle.get(), arg, bytes, len, error) }
        })
    }

    /// Refuses a run that is in progress or lacks a buffer.
    fn check_ready(&self) -> Result<(), Error> {
        self.check_idle()?;
        match self.held.buffers.iter().position(Option::is_none) {
            Some(index) => Err(Error::ArgUnset { kernel: self.kernel().name().to_owned(), index }),
            None => Ok(()),
        }
    }

    fn check_idle(&self) -> Result<(), Error> {
        match self.progress {
            Progress::Idle => Ok(()),
            Progress::Started => Err(Error::InProgress { kernel: self.kernel().name().to_owned() }),
        }
    }

    /// Whether the device is known to be done with the command.
    fn has_ended(&self) -> bool {
        self.state().is_ok_and(RunState::has_ended)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.progress == Progress::Started && !self.has_ended() {
            eprintln!(
                "npugate-xrt: a run of kernel `{}` was dropped while it was in progress on the NPU; \
                 its memory is not freed until this process ends",
                self.kernel().name()
            );
            return;
        }
        // SAFETY: `held` is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.held) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_command_that_ended_may_be_freed() {
        // The numbers of `ert_cmd_state` in XRT's ert.h.
        for state in [4, 5, 6, 8, 9] {
            assert!(RunState::from_raw(state).has_ended(), "{state}");
        }
        for state in [0, 1, 2, 3, 7, 10, -1] {
            assert!(!RunState::from_raw(state).has_ended(), "{state}");
        }
        assert_eq!(RunState::from_raw(4), RunState::Completed);
    }
}

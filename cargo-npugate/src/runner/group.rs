//! A child and all the processes that it starts, which are ended together.

use crate::start::StartError;
use std::{
    io,
    process::{Child, Command, ExitStatus},
};

/// A child in its own process group, which is killed when this is dropped, together with
/// what it started.
#[derive(Debug)]
pub struct Group {
    child: Child,
    /// Set once the child has been waited for.
    status: Option<ExitStatus>,
}

/// How a group is made to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Force {
    /// It may clean up.
    Ask,
    /// It may not.
    Kill,
}

impl Group {
    /// Starts a command.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn spawn(command: &mut Command) -> Result<Self, StartError> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn().map_err(|source| StartError::new(command, source))?;
        Ok(Self { child, status: None })
    }

    /// How the child ended, if it has.
    ///
    /// # Errors
    ///
    /// The system cannot report it.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }

    /// Makes the group end, unless it has ended: the process id of a child that has been
    /// waited for may belong to another process.
    pub fn end(&mut self, force: Force) {
        if self.status.is_some() {
            return;
        }
        // Nothing can be done if the group cannot be signalled; the child itself is killed
        // below.
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let signal = match force {
                Force::Ask => Signal::TERM,
                Force::Kill => Signal::KILL,
            };
            let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            let _ = group.map(|group| kill_process_group(group, signal));
        }
        if force == Force::Kill || cfg!(not(unix)) {
            let _ = self.child.kill();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.end(Force::Kill);
            let _ = self.child.wait();
        }
    }
}

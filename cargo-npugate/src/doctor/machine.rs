//! Everything that the checks look at, gathered once.

use super::buffers::ModelBuffers;
use super::driver::Driver;
use super::node::Node;
use super::npu::Npu;
use super::process::{Memlock, Place};
use super::system::System;
use super::xrt::{Shim, Xrt};
use npugate_schema::{DEVICE_LOCK, Holder, LOCK_VAR};
use npugate_xrt::DriverInterface;
use std::{io, path::Path};

/// A machine, its NPU, and what the NPU needs.
pub struct Machine {
    /// The files from which all of this is read.
    pub system: System,
    /// Its NPUs; those after the first are only listed.
    pub npus: Vec<Npu>,
    /// The kernel and its module.
    pub driver: Driver,
    /// The device node of the first NPU, if it is bound to amdxdna.
    pub node: Option<Node>,
    /// Where this program runs.
    pub place: Place,
    /// The limit of this process on locked memory.
    pub memlock: Memlock,
    /// XRT, if it is installed.
    pub xrt: Option<Xrt>,
    /// npugate's shim for it.
    pub shim: Shim,
    /// The lines of amdxdna in the kernel's log, if that can be read.
    pub log: Option<Vec<String>>,
    /// The models of the workspace, and the memory that their weights take.
    pub models: Vec<ModelBuffers>,
}

impl Machine {
    /// Looks at everything.
    pub fn look(system: System, models: Vec<ModelBuffers>) -> Self {
        let npus = Npu::find(&system);
        let bound = npus.first().filter(|npu| npu.is_bound());
        let node = bound.map(|npu| Node::look(&system, npu));
        let ours = |line: &String| line.contains(super::driver::MODULE);
        let log = system.kernel_log().ok().map(|lines| lines.into_iter().filter(ours).collect());
        Self {
            driver: Driver::look(&system),
            place: Place::of(&system),
            memlock: Memlock::of(&system),
            xrt: Xrt::find(&system),
            shim: Shim::find(&system),
            npus,
            node,
            log,
            models,
            system,
        }
    }

    /// The NPU that tests would run on.
    pub fn npu(&self) -> Option<&Npu> {
        self.npus.first()
    }

    /// The version of the driver's interface, if the driver could be asked.
    pub fn interface(&self) -> Option<DriverInterface> {
        self.node.as_ref()?.answers()?.interface
    }

    /// Whether the driver must lack interface 0.6, judged by the kernel's version: 0.6 was
    /// first posted in November 2025 (dri-devel, "accel/amdxdna: Support preemption
    /// requests"), after the merge window of 6.18. A driver with a version of its own was
    /// built outside of the kernel's tree, so the kernel's version says nothing about it.
    pub fn driver_is_before_0_6(&self) -> bool {
        let old = self.driver.release().is_some_and(|release| release < (6, 19));
        self.interface().is_none() && self.driver.version.is_none() && old
    }

    /// The latest lines of the log that contain one of these texts, at most three.
    pub fn log_lines(&self, texts: &[&str]) -> Vec<String> {
        let lines = self.log.iter().flatten();
        let has = |line: &&String| texts.iter().any(|text| line.contains(text));
        let mut latest: Vec<_> = lines.rev().filter(has).take(3).cloned().collect();
        latest.reverse();
        latest
    }

    /// The file of the lock that a run takes, and who holds it.
    ///
    /// # Errors
    ///
    /// If the file or the table of locks cannot be read.
    pub fn holder(&self) -> (String, io::Result<Option<Holder>>) {
        let path = self.system.variable(LOCK_VAR).unwrap_or_else(|| DEVICE_LOCK.to_owned());
        let holder = self.holder_of(&path);
        (path, holder)
    }

    /// Who holds the lock on a file.
    ///
    /// # Errors
    ///
    /// If the file or the table of locks cannot be read.
    pub fn holder_of(&self, path: impl AsRef<Path>) -> io::Result<Option<Holder>> {
        Holder::look(&self.system.path(path), &self.system.path("/proc"))
    }
}

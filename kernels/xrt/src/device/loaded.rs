//! A program on the device, with its buffers.
//!
//! All sets share the buffers of inputs, intermediates, outputs and scratch memory; each set has
//! static buffers of its own. Each set has a run of its own, in which all of its buffers stay set.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use npugate_kernels::{Arg, ArgIndex, BufferRules, BufferSet, Program, Role};

use super::{
    bytes::{self, POISON},
    check::Position,
};
use crate::{Buffer, Deadline, Error, Kernel, Run};

/// A program on the device, with its buffers.
pub(super) struct Loaded {
    pub(super) rules: BufferRules,
    kernel: Kernel,
    positions: Vec<Position>,
    /// One for each position; `None` if it is static.
    shared: Vec<Option<Buffer>>,
    statics: BTreeMap<(BufferSet, usize), Buffer>,
    runs: BTreeMap<BufferSet, Run>,
    /// Whether the device is known to have written each argument.
    seen: Vec<bool>,
}

/// What a read found.
pub(super) enum Found {
    /// The bytes of the buffer.
    Bytes(Vec<u8>),
    /// Only what the host put there before the first run.
    Untouched,
}

impl Loaded {
    /// Allocates the buffers that all sets share. They are poisoned once, so that a binary that
    /// computes nothing is noticed.
    pub(super) fn new(
        program: &Program,
        kernel: Kernel,
        positions: Vec<Position>,
    ) -> Result<Self, Error> {
        let shared = positions.iter().enumerate().map(|(at, position)| {
            let size = match position {
                Position::Scratch(size) => *size,
                Position::Arg(arg) => match program.args.get(arg.0) {
                    Some(arg) if arg.role != Role::Static => bytes::size(arg),
                    _ => return Ok(None),
                },
            };
            let buffer = kernel.buffer(at, size)?;
            buffer.write(0, &vec![POISON; size])?;
            buffer.sync_to_device()?;
            Ok(Some(buffer))
        });
        Ok(Self {
            rules: BufferRules::new(program),
            shared: shared.collect::<Result<_, Error>>()?,
            kernel,
            positions,
            statics: BTreeMap::new(),
            runs: BTreeMap::new(),
            seen: vec![false; program.args.len()],
        })
    }

    /// The position of an argument in the binary's order.
    fn position(&self, arg: ArgIndex) -> Option<usize> {
        self.positions.iter().position(|position| *position == Position::Arg(arg))
    }

    /// Writes an argument that the rules let the host write.
    pub(super) fn write(
        &mut self,
        set: BufferSet,
        arg: ArgIndex,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let at = self.position(arg).unwrap_or_default();
        let buffer = match self.shared.get(at) {
            Some(Some(buffer)) => buffer.clone(),
            _ => self.kernel.buffer(at, bytes.len())?,
        };
        buffer.write(0, bytes)?;
        buffer.sync_to_device()?;
        if self.shared.get(at).is_none_or(Option::is_none) {
            self.statics.insert((set, at), buffer);
        }
        self.rules.written(set, arg);
        Ok(())
    }

    /// Runs with the static buffers of `set`, and returns the time from submission to completion.
    pub(super) fn run(&mut self, set: BufferSet, deadline: Deadline) -> Result<Duration, Error> {
        self.rules.begin_run();
        if !self.runs.contains_key(&set) {
            let run = self.prepare(set)?;
            self.runs.insert(set, run);
        }
        let start = Instant::now();
        if let Some(run) = self.runs.get_mut(&set) {
            run.start()?;
            run.wait(deadline)?;
        }
        let took = start.elapsed();
        self.rules.complete_run(set);
        Ok(took)
    }

    /// Makes the run of `set`, with all of its buffers.
    fn prepare(&self, set: BufferSet) -> Result<Run, Error> {
        let mut run = self.kernel.run()?;
        for (at, shared) in self.shared.iter().enumerate() {
            if let Some(buffer) = shared.as_ref().or_else(|| self.statics.get(&(set, at))) {
                run.set_buffer(at, buffer)?;
            }
        }
        Ok(run)
    }

    /// Reads an argument that the rules let the host read.
    pub(super) fn read(&mut self, arg: ArgIndex, declared: &Arg) -> Result<Found, Error> {
        let mut bytes = vec![0; bytes::size(declared)];
        let at = self.position(arg).unwrap_or_default();
        if let Some(Some(buffer)) = self.shared.get(at) {
            buffer.sync_from_device()?;
            buffer.read(0, &mut bytes)?;
        }
        if let Some(seen) = self.seen.get_mut(arg.0).filter(|seen| !**seen) {
            if bytes.iter().all(|byte| *byte == POISON) {
                return Ok(Found::Untouched);
            }
            *seen = true;
        }
        Ok(Found::Bytes(bytes))
    }
}

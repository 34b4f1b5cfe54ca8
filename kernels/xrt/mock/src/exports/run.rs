//! Runs.

use std::{ffi::c_void, sync::Arc, thread, time::Duration};

use super::{
    Failed, RawError,
    buffer::Buffer,
    finish, free, give, guard,
    kernel::{Kernel, check_arg},
    object, put, without_faults,
};
use crate::{
    Format, compute,
    fault::{self, Effect},
    memory::Memory,
};

const NEW: i32 = 1;
const RUNNING: i32 = 3;
const COMPLETED: i32 = 4;
const ERROR: i32 = 5;

/// The longest that a test waits, even without a deadline, for a run that never ends.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone)]
enum Argument {
    Buffer(Arc<Memory>),
    Scalar(Vec<u8>),
}

struct Run {
    kernel: Kernel,
    arguments: Vec<Option<Argument>>,
    state: i32,
    /// The state in which it ends.
    end: i32,
    /// Whether it has missed a deadline already.
    late: bool,
}

impl Run {
    /// Computes. The result is there at once, but only a wait reports it.
    fn start(&mut self) {
        self.end = self.compute().unwrap_or(ERROR);
        self.late = false;
        self.state = RUNNING;
    }

    /// Computes, unless an argument is wrong.
    fn compute(&self) -> Option<i32> {
        let mut arguments = self.arguments.iter();
        if self.kernel.program.file.format == Format::Xclbin {
            let Argument::Scalar(opcode) = arguments.next()?.as_ref()? else { return None };
            let Argument::Buffer(instructions) = arguments.next()?.as_ref()? else { return None };
            let Argument::Scalar(count) = arguments.next()?.as_ref()? else { return None };
            let opcode = u64::from_ne_bytes(opcode.as_slice().try_into().ok()?);
            let count = u32::from_ne_bytes(count.as_slice().try_into().ok()?) as usize;
            // Their number is in words or in bytes.
            let size = instructions.size();
            if opcode != 3 || (count != size && count != size / 4) {
                return None;
            }
        }
        let buffers: Option<Vec<Arc<Memory>>> = arguments
            .map(|argument| match argument.as_ref()? {
                Argument::Buffer(memory) => Some(Arc::clone(memory)),
                Argument::Scalar(_) => None,
            })
            .collect();
        Some(compute::compute(&self.kernel.program.path, &self.kernel.name, &buffers?))
    }

    /// Ends the run, or lets it miss the deadline.
    fn wait(&mut self, milliseconds: u32) -> Result<(), Failed> {
        match fault::effect("npg_run_wait") {
            Some(Effect::Hang) => return Err(missed(milliseconds)),
            Some(Effect::Late) if !self.late => {
                self.late = true;
                return Err(missed(milliseconds));
            }
            Some(Effect::Fail { kind: kind @ (2 | 3), code, text }) => {
                self.state = code;
                return Err(Failed { kind, code, text });
            }
            Some(Effect::Fail { kind, code, text }) => return Err(Failed { kind, code, text }),
            _ => {}
        }
        self.state = self.end;
        if self.state == COMPLETED {
            return Ok(());
        }
        let text = "Command failed to complete successfully (ERT_CMD_STATE_ERROR)";
        Err(Failed::aie(self.state, text))
    }
}

/// Waits for a run that does not end.
fn missed(milliseconds: u32) -> Failed {
    let deadline = Duration::from_millis(milliseconds.into());
    thread::sleep(if milliseconds == 0 { PATIENCE } else { deadline.min(PATIENCE) });
    Failed::host_timeout(RUNNING)
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_new(kernel: *mut Kernel, run: *mut *mut Run, error: *mut RawError) -> i32 {
    guard("npg_run_new", error, || {
        let kernel = object(kernel)?.clone();
        let arguments = vec![None; usize::try_from(kernel.args).unwrap_or(0)];
        give(run, Run { kernel, arguments, state: NEW, end: COMPLETED, late: false })
    })
}

/// Sets an argument.
fn set(run: *mut Run, arg: i32, argument: Argument) -> Result<(), Failed> {
    let run = object(run)?;
    check_arg(arg, run.kernel.args)?;
    let index = usize::try_from(arg).unwrap_or(0);
    if run.arguments.len() <= index {
        run.arguments.resize(index + 1, None);
    }
    run.arguments[index] = Some(argument);
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_set_buffer(
    run: *mut Run,
    arg: i32,
    buffer: *mut Buffer,
    error: *mut RawError,
) -> i32 {
    guard("npg_run_set_buffer", error, || {
        set(run, arg, Argument::Buffer(Arc::clone(&object(buffer)?.memory)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_set_scalar(
    run: *mut Run,
    arg: i32,
    value: *const c_void,
    size: usize,
    error: *mut RawError,
) -> i32 {
    guard("npg_run_set_scalar", error, || {
        if value.is_null() {
            return Err(Failed::argument("value is null"));
        }
        // SAFETY: it is not null, and there are `size` bytes, as the header says.
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
        set(run, arg, Argument::Scalar(bytes.to_vec()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_start(run: *mut Run, error: *mut RawError) -> i32 {
    guard("npg_run_start", error, || {
        object(run)?.start();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_wait(run: *mut Run, milliseconds: u32, error: *mut RawError) -> i32 {
    finish(error, without_faults(|| object(run)?.wait(milliseconds)))
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_state(run: *mut Run, state: *mut i32, error: *mut RawError) -> i32 {
    guard("npg_run_state", error, || put(state, object(run)?.state))
}

#[unsafe(no_mangle)]
extern "C" fn npg_run_free(run: *mut Run) {
    free("run", run);
}

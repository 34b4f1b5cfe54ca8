//! Lists of runs.

use super::{
    Failed, RawError, finish, free, give, guard, object,
    program::Context,
    put,
    run::{COMPLETED, RUNNING, Run},
    without_faults,
};

pub(super) struct Runlist {
    runs: Vec<Run>,
    state: i32,
}

impl Runlist {
    fn idle(&mut self) -> Result<&mut Self, Failed> {
        if self.state == RUNNING {
            return Err(Failed::exception("runlist is in use"));
        }
        Ok(self)
    }
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_new(
    context: *mut Context,
    runlist: *mut *mut Runlist,
    error: *mut RawError,
) -> i32 {
    guard("npg_runlist_new", error, || {
        object(context)?;
        give(runlist, Runlist { runs: Vec::new(), state: COMPLETED })
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_add(runlist: *mut Runlist, run: *mut Run, error: *mut RawError) -> i32 {
    guard("npg_runlist_add", error, || {
        let run = object(run)?.clone();
        object(runlist)?.idle()?.runs.push(run);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_execute(runlist: *mut Runlist, error: *mut RawError) -> i32 {
    guard("npg_runlist_execute", error, || {
        let list = object(runlist)?.idle()?;
        list.runs.iter_mut().for_each(Run::start);
        list.state = RUNNING;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_wait(
    runlist: *mut Runlist,
    milliseconds: u32,
    error: *mut RawError,
) -> i32 {
    let result = without_faults(|| {
        let list = object(runlist)?;
        for run in &mut list.runs {
            let waited = run.wait("npg_runlist_wait", milliseconds);
            list.state = run.state;
            waited?;
        }
        Ok(())
    });
    finish(error, result)
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_state(
    runlist: *mut Runlist,
    state: *mut i32,
    error: *mut RawError,
) -> i32 {
    guard("npg_runlist_state", error, || put(state, object(runlist)?.state))
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_reset(runlist: *mut Runlist, error: *mut RawError) -> i32 {
    guard("npg_runlist_reset", error, || {
        let list = object(runlist)?.idle()?;
        list.runs.clear();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn npg_runlist_free(runlist: *mut Runlist) {
    free("runlist", runlist);
}

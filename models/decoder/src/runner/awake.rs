//! Keeps the thread pool awake for the length of a decode step.
//!
//! A step is about two hundred launches that take from a few to a few hundred microseconds each.
//! Between them, idle threads of the pool go to sleep, and waking them costs as much as a launch.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// A thread that has had no work for this long goes to sleep after all, because the step is
/// waiting for something else, such as hardware.
const PATIENCE: Duration = Duration::from_micros(500);

/// Whether a step of this process keeps the pool awake. Only one step may do so at a time: two
/// would each wait, on the other's thread, for the other to end.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// Sets a flag when it is dropped, and so also after a panic.
struct AtEnd<'a> {
    flag: &'a AtomicBool,
    value: bool,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.flag.store(self.value, Ordering::Release);
    }
}

/// Runs `step` on a thread of the pool while the other threads wait for work instead of
/// sleeping. This does not affect what `step` returns.
pub(super) fn awake<R: Send>(step: impl FnOnce() -> R + Send) -> R {
    if AWAKE.swap(true, Ordering::Acquire) {
        return step();
    }
    let _free = AtEnd { flag: &AWAKE, value: false };
    let done = AtomicBool::new(false);
    rayon::scope(|scope| {
        let own = rayon::current_thread_index();
        let done = &done;
        scope.spawn_broadcast(move |_, context| {
            if Some(context.index()) != own {
                wait(done);
            }
        });
        let _done = AtEnd { flag: done, value: true };
        step()
    })
}

/// Works for the pool until `done`.
fn wait(done: &AtomicBool) {
    let mut idle = Instant::now();
    while !done.load(Ordering::Acquire) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            idle = Instant::now();
        } else if idle.elapsed() > PATIENCE {
            return;
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::{panic, thread};

    fn sum() -> u64 {
        (0..1000u64).into_par_iter().sum()
    }

    #[test]
    fn steps_of_several_threads_end_and_return_what_they_computed() {
        let steps: Vec<_> = (0..8)
            .map(|_| thread::spawn(|| (0..50).map(|_| awake(|| awake(sum) + sum())).sum::<u64>()))
            .collect();
        for step in steps {
            // 2 * 999 * 1000 / 2, fifty times.
            assert_eq!(step.join().unwrap(), 49_950_000);
        }
    }

    #[test]
    fn a_step_that_panics_or_waits_for_a_long_time_leaves_nothing_awake() {
        assert!(panic::catch_unwind(|| awake(|| -> u64 { panic!("a step's own fault") })).is_err());
        assert_eq!(
            awake(|| {
                thread::sleep(4 * PATIENCE);
                sum()
            }),
            499_500
        );
        assert_eq!(awake(sum), 499_500);
    }
}

//! Ctrl-C and similar signals: the run ends early, but still reports what it found.

use signal_hook::{consts::TERM_SIGNALS, iterator::Signals};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use std::{process, thread};

/// The number of signals that have come.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

/// How urgently the run must end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    /// Not at all.
    None,
    /// Running tests may clean up.
    Soon,
    /// Running tests are killed.
    Now,
}

impl Interrupt {
    /// Listens from now on. The first signal asks running tests to end, the second kills
    /// them, and the third ends this program at once.
    pub fn listen(exit_code: u8) -> Self {
        let interrupt = Self::default();
        // Without a handler, a signal has its default effect.
        if let Ok(mut signals) = Signals::new(TERM_SIGNALS) {
            let count = Arc::clone(&interrupt.0);
            thread::spawn(move || {
                for _ in signals.forever() {
                    if count.fetch_add(1, Ordering::Relaxed) >= 2 {
                        process::exit(exit_code.into());
                    }
                }
            });
        }
        interrupt
    }

    /// Acts as if this number of signals had come.
    #[cfg(test)]
    pub fn raise(&self, signals: usize) {
        self.0.fetch_add(signals, Ordering::Relaxed);
    }

    /// How urgently the run must end.
    pub fn urgency(&self) -> Urgency {
        match self.0.load(Ordering::Relaxed) {
            0 => Urgency::None,
            1 => Urgency::Soon,
            _ => Urgency::Now,
        }
    }

    /// Whether a signal has come.
    pub fn has_come(&self) -> bool {
        self.urgency() > Urgency::None
    }
}

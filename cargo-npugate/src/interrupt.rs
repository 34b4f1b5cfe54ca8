//! Ctrl-C and its like: the run ends early, and what it found is still told.

use signal_hook::{consts::TERM_SIGNALS, iterator::Signals};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use std::{process, thread};

/// How often the user has had enough.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

/// How urgent it is to end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    /// Not at all.
    None,
    /// What runs may clean up.
    Soon,
    /// It may not.
    Now,
}

impl Interrupt {
    /// Listens from here on. The first signal asks what runs to end, the second
    /// kills it, the third ends this program at once.
    pub fn listen(exit_code: u8) -> Self {
        let interrupt = Self::default();
        // Without a handler a signal does what it always does.
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

    /// As if so many signals had come.
    #[cfg(test)]
    pub fn raise(&self, signals: usize) {
        self.0.fetch_add(signals, Ordering::Relaxed);
    }

    /// How urgent it is.
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

//! Ctrl-C and its like: the run ends early, and what it found is still told.

use signal_hook::{consts::TERM_SIGNALS, flag};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether the user has had enough.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from here on. The second signal ends this program at once.
    pub fn listen(exit_code: u8) -> Self {
        let interrupt = Self::default();
        for signal in TERM_SIGNALS {
            let flag = || Arc::clone(&interrupt.0);
            // In this order: the first one finds the flag unset. Without a
            // handler the signal does what it always does.
            let _ = flag::register_conditional_shutdown(*signal, exit_code.into(), flag());
            let _ = flag::register(*signal, flag());
        }
        interrupt
    }

    /// Whether a signal has come.
    pub fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

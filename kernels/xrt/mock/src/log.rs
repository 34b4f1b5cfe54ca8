//! In which order a thread freed what it had.

use std::cell::RefCell;

thread_local! {
    static FREED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Notes that something is freed.
pub(crate) fn freed(what: &'static str) {
    // A thread may free its last objects while it ends.
    let _ = FREED.try_with(|freed| freed.borrow_mut().push(what));
}

/// What this thread has freed since the last call, a word each.
pub(crate) fn take() -> String {
    FREED.with(|freed| std::mem::take(&mut *freed.borrow_mut())).join(" ")
}

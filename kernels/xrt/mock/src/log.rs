//! The order in which a thread freed its objects.

use std::cell::RefCell;

thread_local! {
    static FREED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Notes that an object is freed.
pub(crate) fn freed(what: &'static str) {
    // A thread may free its last objects while it ends.
    let _ = FREED.try_with(|freed| freed.borrow_mut().push(what));
}

/// What this thread has freed since the last call, one word for each object.
pub(crate) fn take() -> String {
    FREED.with(|freed| std::mem::take(&mut *freed.borrow_mut())).join(" ")
}

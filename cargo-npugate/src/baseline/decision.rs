//! What to do with a pending change.

/// What to do with a pending change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Take it into the baseline.
    Accept,
    /// Drop it.
    Reject,
}

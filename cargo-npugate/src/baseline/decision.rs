//! What becomes of a pending change.

/// What becomes of a pending change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It enters the baseline.
    Accept,
    /// It is dropped.
    Reject,
}

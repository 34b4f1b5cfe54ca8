//! How long the host waits for a run.

use std::time::Duration;

/// How long the host waits for a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deadline {
    /// At most this long, starting from the call.
    After(Duration),
    /// Until the driver or the device ends it.
    Never,
}

impl Deadline {
    /// The deadline in milliseconds, for the shim; 0 is no limit. Less than 1 ms becomes 1 ms, and
    /// what does not fit in XRT's `int` becomes 24 days.
    pub(crate) fn milliseconds(self) -> u32 {
        match self {
            Self::After(limit) => {
                limit.as_millis().clamp(1, i32::MAX.unsigned_abs().into()).try_into().unwrap_or(1)
            }
            Self::Never => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_of_zero_is_still_a_limit() {
        assert_eq!(Deadline::After(Duration::ZERO).milliseconds(), 1);
        assert_eq!(Deadline::After(Duration::from_micros(900)).milliseconds(), 1);
        assert_eq!(Deadline::After(Duration::from_secs(2)).milliseconds(), 2000);
        assert_eq!(Deadline::After(Duration::MAX).milliseconds(), 2_147_483_647);
        assert_eq!(Deadline::Never.milliseconds(), 0);
    }
}

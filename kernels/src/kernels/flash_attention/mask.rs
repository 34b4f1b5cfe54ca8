//! Which keys a query sees.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

/// Which keys a query of [`FlashAttention`](super::FlashAttention) sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// The keys at its own position and before.
    Causal,
    /// All keys.
    Full,
    /// This number of keys, the last of which is at its own position: the meaning of
    /// `sliding_window` in a Hugging Face configuration. A multiple of 64.
    SlidingWindow(usize),
}

impl Mask {
    /// The keys that the query at position `query` sees, of `tokens`.
    pub(crate) fn keys(self, query: usize, tokens: usize) -> Range<usize> {
        match self {
            Self::Full => 0..tokens,
            Self::Causal => 0..query + 1,
            Self::SlidingWindow(window) => (query + 1).saturating_sub(window)..query + 1,
        }
    }
}

/// As in names: `causal`, `full`, `causal_w512`.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Causal => f.write_str("causal"),
            Self::Full => f.write_str("full"),
            Self::SlidingWindow(window) => write!(f, "causal_w{window}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_the_querys_own_key_and_those_just_before_it() {
        // transformers' masking_utils: key > query - window, and key <= query.
        assert_eq!(Mask::SlidingWindow(64).keys(0, 256), 0..1);
        assert_eq!(Mask::SlidingWindow(64).keys(63, 256), 0..64);
        assert_eq!(Mask::SlidingWindow(64).keys(64, 256), 1..65);
        assert_eq!(Mask::Causal.keys(64, 256), 0..65);
        assert_eq!(Mask::Full.keys(64, 256), 0..256);
    }
}

//! Whether a row is as it should be.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use super::{Band, Found};

/// Whether a row meets its band, and whether that is as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It meets its band.
    Within,
    /// It misses its band, as it is known to.
    KnownMiss {
        /// Why it does.
        reason: &'static str,
    },
    /// It misses its band.
    Miss,
    /// It meets its band although it is listed as a known miss: the reason is out of date.
    Stale {
        /// Why it was expected to miss.
        reason: &'static str,
    },
}

static KNOWN_MISSES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    match serde_json::from_str(include_str!("../../registry/known-misses.json")) {
        Ok(misses) => misses,
        // The file is compiled in and read by a test: this does not happen in a tested build.
        Err(e) => panic!("registry/known-misses.json is malformed: {e}"),
    }
});

impl Standing {
    pub(super) fn of(row: &str, band: &Band, found: &Found) -> Self {
        let reason = KNOWN_MISSES.get(row).map(String::as_str);
        Self::from_parts(band.holds(found), reason)
    }

    fn from_parts(within: bool, reason: Option<&'static str>) -> Self {
        match (within, reason) {
            (true, None) => Self::Within,
            (true, Some(reason)) => Self::Stale { reason },
            (false, None) => Self::Miss,
            (false, Some(reason)) => Self::KnownMiss { reason },
        }
    }

    /// Whether something has to be done about the row.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Within | Self::KnownMiss { .. } => false,
            Self::Miss | Self::Stale { .. } => true,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Within => "within",
            Self::KnownMiss { .. } => "known miss",
            Self::Miss => "miss",
            Self::Stale { .. } => "within, though listed as a known miss",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn every_known_miss_is_a_row_and_has_a_reason() {
        for (name, reason) in &*KNOWN_MISSES {
            assert!(Registry::published().find(name).is_some(), "{name}");
            assert!(reason.len() > 20, "{name}: {reason}");
        }
    }

    #[test]
    fn a_miss_and_a_reason_that_is_out_of_date_both_fail() {
        assert!(!Standing::from_parts(true, None).is_failure());
        assert!(!Standing::from_parts(false, Some("why")).is_failure());
        assert!(Standing::from_parts(false, None).is_failure());
        assert!(Standing::from_parts(true, Some("why")).is_failure());
    }
}

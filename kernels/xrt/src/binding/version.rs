//! Versions of XRT.

use std::{fmt, str::FromStr};

/// A version of XRT, such as 2.25.0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct XrtVersion {
    /// The major number.
    pub major: u32,
    /// The minor number: the interface may change with it.
    pub minor: u32,
    /// The patch level; 0 if it is not known.
    pub patch: u32,
}

/// Text that is not a version.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a version of XRT; write it as 2.25 or 2.25.0")]
pub struct InvalidVersion {
    /// The text.
    pub text: String,
}

impl XrtVersion {
    /// The version with these numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// The version for an `XRT_VERSION_CODE`, which has the major number in its upper 16 bits, and
    /// a patch level.
    pub const fn from_code(code: u32, patch: u32) -> Self {
        Self { major: code >> 16, minor: code & 0xffff, patch }
    }

    /// Whether a shim that was built for one works with the other: all but the patch level is
    /// equal.
    pub const fn same_interface(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

impl fmt::Display for XrtVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for XrtVersion {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let invalid = || InvalidVersion { text: text.to_owned() };
        let mut numbers = text.split('.').map(str::parse);
        let mut next = || numbers.next().transpose().map_err(|_| invalid());
        let (Some(major), Some(minor)) = (next()?, next()?) else { return Err(invalid()) };
        let patch = next()?.unwrap_or(0);
        if next()?.is_some() {
            return Err(invalid());
        }
        Ok(Self { major, minor, patch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_two_or_three_numbers() {
        assert_eq!("2.25".parse(), Ok(XrtVersion::new(2, 25, 0)));
        assert_eq!("2.25.00".parse(), Ok(XrtVersion::new(2, 25, 0)));
        assert_eq!("2.25.3".parse(), Ok(XrtVersion::new(2, 25, 3)));
        for text in ["", "2", "2.", "2.x", "2.25.0.1", "v2.25"] {
            assert!(text.parse::<XrtVersion>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_version_code_has_the_major_number_in_its_upper_half() {
        // XRT_VERSION(2, 25) of XRT 2.25's detail/version-slim.h.
        assert_eq!(XrtVersion::from_code(0x2_0019, 0), XrtVersion::new(2, 25, 0));
    }

    #[test]
    fn a_patch_level_does_not_change_the_interface() {
        let version = XrtVersion::new(2, 25, 0);
        assert!(version.same_interface(XrtVersion::new(2, 25, 9)));
        assert!(!version.same_interface(XrtVersion::new(2, 26, 0)));
    }
}

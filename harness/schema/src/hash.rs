//! SHA-256 of files, as `sha256sum` prints it.

use serde::{Deserialize, Serialize};
use sha2::Digest;
use std::{fmt, fs::File, io, io::Read, path::Path, str::FromStr};

/// A SHA-256 digest; reads and prints as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "json-schema"), derive(schemars::JsonSchema))]
#[cfg_attr(
    any(test, feature = "json-schema"),
    schemars(extend("pattern" = "^[0-9a-fA-F]{64}$"))
)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of a file, read in pieces.
    ///
    /// # Errors
    ///
    /// Any failure to open or read it.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hasher = sha2::Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self(hasher.finalize().into())),
                n => hasher.update(&buffer[..n]),
            }
        }
    }
}

/// Text that is not a SHA-256 digest.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a SHA-256 digest of 64 hex digits")]
pub struct Sha256Error(String);

impl FromStr for Sha256 {
    type Err = Sha256Error;

    fn from_str(text: &str) -> Result<Self, Sha256Error> {
        let error = || Sha256Error(text.to_owned());
        let mut digest = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(error());
        }
        for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| error())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(digest))
    }
}

impl TryFrom<String> for Sha256 {
    type Error = Sha256Error;

    fn try_from(text: String) -> Result<Self, Sha256Error> {
        text.parse()
    }
}

impl From<Sha256> for String {
    fn from(digest: Sha256) -> Self {
        digest.to_string()
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // FIPS 180-2, appendix B.1.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_digest_of_abc_is_the_one_of_the_standard() {
        assert_eq!(Sha256::of(b"abc").to_string(), ABC);
        assert_eq!(ABC.parse(), Ok(Sha256::of(b"abc")));
    }

    #[test]
    fn text_that_is_not_a_digest_is_refused() {
        for text in ["", "abc", &"g".repeat(64), &"é".repeat(32), &ABC[1..]] {
            assert!(text.parse::<Sha256>().is_err(), "{text}");
        }
    }
}

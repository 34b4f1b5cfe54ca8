//! What a fixture carries to say which program it stands for.

use std::fmt;

/// Eight bytes before a key in a PDI, and eight hexadecimal digits after them.
const MARK: &[u8; 8] = b"NPUGATE:";

/// The address of the block write that carries a key in control code: no tile has it.
const ADDRESS: u32 = 0x4e50_4700;

/// The first four bytes of the SHA-256 of a program's JSON.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Key(pub [u8; 4]);

impl Key {
    /// The key in the bytes of a PDI.
    pub fn in_pdi(pdi: &[u8]) -> Option<Self> {
        let start = pdi.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
        let digits = pdi.get(start..start + 8)?;
        let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        Self::new(number.to_be_bytes())
    }

    /// The key in a block write of `words` to `address`.
    pub fn in_write(address: u32, words: &[u32]) -> Option<Self> {
        (address == ADDRESS).then_some(words.first()?.to_le_bytes()).and_then(Self::new)
    }

    /// A template's key is zero, which stands for none.
    fn new(bytes: [u8; 4]) -> Option<Self> {
        (bytes != [0; 4]).then_some(Self(bytes))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_a_pdi_and_in_control_code() {
        let key = Key([0xde, 0xad, 0xbe, 0xef]);
        assert_eq!(Key::in_pdi(b"\0\0NPUGATE:deadbeef\0"), Some(key));
        assert_eq!(Key::in_write(ADDRESS, &[u32::from_le_bytes(key.0)]), Some(key));
        assert_eq!(key.to_string(), "deadbeef");
    }

    #[test]
    fn what_carries_no_key_has_none() {
        assert_eq!(Key::in_pdi(b"NPUGATE:dead"), None);
        assert_eq!(Key::in_pdi(b"NPUGATE:zzzzzzzz"), None);
        assert_eq!(Key::in_pdi(b"NPUGATE:00000000"), None);
        assert_eq!(Key::in_write(0x1d000, &[1]), None);
        assert_eq!(Key::in_write(ADDRESS, &[]), None);
    }
}

//! The process's mappings of the window: with shared virtual memory, the device addresses a buffer
//! where the process sees it.

use std::collections::BTreeMap;

/// Mapped ranges: address, length, offset in the window.
#[derive(Debug, Default)]
pub struct Mappings {
    ranges: BTreeMap<u64, (u64, u64)>,
}

impl Mappings {
    /// Adds a mapping, and removes those that it replaces.
    pub fn insert(&mut self, address: u64, len: u64, offset: u64) {
        let end = address.saturating_add(len);
        self.ranges.retain(|&start, &mut (len, _)| start >= end || start + len <= address);
        self.ranges.insert(address, (len, offset));
    }

    /// The place of a range of addresses in the window.
    pub fn offset(&self, address: u64, len: u64) -> Option<u64> {
        let (&start, &(size, offset)) = self.ranges.range(..=address).next_back()?;
        let skip = address - start;
        (skip.checked_add(len)? <= size).then_some(offset + skip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_only_inside_its_mapping() {
        let mut mappings = Mappings::default();
        mappings.insert(0x1000, 0x1000, 0x9000);
        assert_eq!(mappings.offset(0x1800, 0x800), Some(0x9800));
        assert_eq!(mappings.offset(0x1800, 0x801), None);
        assert_eq!(mappings.offset(0x0fff, 1), None);
    }

    #[test]
    fn a_mapping_replaces_what_was_there() {
        let mut mappings = Mappings::default();
        mappings.insert(0x1000, 0x2000, 0x9000);
        mappings.insert(0x2000, 0x1000, 0x4000);
        assert_eq!(mappings.offset(0x2000, 1), Some(0x4000));
        assert_eq!(mappings.offset(0x1000, 1), None);
    }
}

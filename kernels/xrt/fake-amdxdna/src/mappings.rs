//! What the process has mapped of the window: with shared virtual memory the device addresses a
//! buffer where the process sees it.

use std::collections::BTreeMap;

/// Mapped ranges: address, length, offset in the window.
#[derive(Debug, Default)]
pub struct Mappings {
    ranges: BTreeMap<u64, (u64, u64)>,
}

impl Mappings {
    /// Notes a mapping; those that it replaces are gone.
    pub fn insert(&mut self, address: u64, len: u64, offset: u64) {
        let end = address.saturating_add(len);
        self.ranges.retain(|&start, &mut (len, _)| start >= end || start + len <= address);
        self.ranges.insert(address, (len, offset));
    }

    /// Where a range of addresses lies in the window.
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
    fn an_address_is_found_inside_its_mapping_alone() {
        let mut mappings = Mappings::default();
        mappings.insert(0x1000, 0x1000, 0x9000);
        assert_eq!(mappings.offset(0x1800, 0x800), Some(0x9800));
        assert_eq!(mappings.offset(0x1800, 0x801), None);
        assert_eq!(mappings.offset(0x0fff, 1), None);
    }

    #[test]
    fn a_mapping_replaces_what_lay_there() {
        let mut mappings = Mappings::default();
        mappings.insert(0x1000, 0x2000, 0x9000);
        mappings.insert(0x2000, 0x1000, 0x4000);
        assert_eq!(mappings.offset(0x2000, 1), Some(0x4000));
        assert_eq!(mappings.offset(0x1000, 1), None);
    }
}

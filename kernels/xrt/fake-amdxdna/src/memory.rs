//! The device's view of memory: as behind an IOMMU, an address is valid only while a buffer is
//! there.

use std::fmt;

use crate::{
    buffers::{Buffers, HEAP_BASE, Place},
    mappings::Mappings,
    uapi::Errno,
    user,
    window::{SPAN, Window},
};

/// Memory, with the buffers in it and the process's mappings of them.
pub struct Memory {
    pub window: Window,
    pub buffers: Buffers,
    pub mappings: Mappings,
}

/// A range of addresses that no buffer contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadAddress {
    pub address: u64,
    pub len: usize,
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, len } = self;
        write!(
            f,
            "the device reaches for {len} bytes at {address:#x}, where no buffer of that size is; \
             keep a buffer until the run has ended, and make it as large as the argument"
        )
    }
}

impl Memory {
    /// A window without buffers.
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new() -> Result<Self, Errno> {
        let (buffers, mappings) = (Buffers::new(SPAN), Mappings::default());
        Ok(Self { window: Window::new()?, buffers, mappings })
    }

    /// Reads at an address of the device.
    ///
    /// # Errors
    /// If no buffer holds the whole range.
    pub fn read(&self, address: u64, len: usize) -> Result<Vec<u8>, BadAddress> {
        let bad = BadAddress { address, len };
        match self.locate(bad)? {
            Place::Window(offset) => self.window.read(offset, len).ok_or(bad),
            Place::User(at) => user::read_bytes(at, len).map_err(|_| bad),
        }
    }

    /// Writes at an address of the device.
    ///
    /// # Errors
    /// If no buffer holds the whole range.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), BadAddress> {
        let bad = BadAddress { address, len: bytes.len() };
        match self.locate(bad)? {
            Place::Window(offset) => self.window.write(offset, bytes).ok_or(bad),
            Place::User(at) => user::write_bytes(at, bytes).map_err(|_| bad),
        }
    }

    /// The words of the buffer in the window with this handle.
    pub fn words_of(&self, handle: u32) -> Option<Vec<u32>> {
        Some(words(&self.bytes_of(handle)?))
    }

    /// The bytes of the buffer in the window with this handle.
    pub fn bytes_of(&self, handle: u32) -> Option<Vec<u8>> {
        let buffer = self.buffers.get(handle)?;
        match buffer.place {
            Place::Window(offset) => self.window.read(offset, buffer.size as usize),
            Place::User(_) => None,
        }
    }

    /// Writes one word of a buffer in the window.
    pub fn write_word(&self, handle: u32, index: usize, word: u32) -> Option<()> {
        let buffer = self.buffers.get(handle)?;
        match buffer.place {
            Place::Window(offset) if (index as u64 + 1) * 4 <= buffer.size => {
                self.window.write(offset + index as u64 * 4, &word.to_le_bytes())
            }
            _ => None,
        }
    }

    fn locate(&self, bad: BadAddress) -> Result<Place, BadAddress> {
        let BadAddress { address, len } = bad;
        let len = len as u64;
        let heap = self.buffers.heap();
        // The heap's addresses are the device's own; all others are the process's.
        let offset = match address.checked_sub(HEAP_BASE) {
            Some(skip) if heap != 0 && self.buffers.in_window(heap + skip, len).is_some() => {
                Some(heap + skip)
            }
            _ => self.mappings.offset(address, len),
        };
        match offset {
            Some(offset) if self.buffers.in_window(offset, len).is_some() => {
                Ok(Place::Window(offset))
            }
            _ if self.buffers.in_user(address, len) => Ok(Place::User(address)),
            _ => Err(bad),
        }
    }
}

/// Bytes as little-endian words, without an incomplete last word.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    bytes.chunks_exact(4).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::BufferKind;

    #[test]
    fn a_buffer_is_reached_where_the_process_maps_it_until_it_is_closed() {
        let mut memory = Memory::new().unwrap();
        let handle = memory.buffers.create(BufferKind::Share, 8, None).unwrap();
        let Place::Window(offset) = memory.buffers.get(handle).unwrap().place else {
            panic!("not in the window")
        };
        memory.mappings.insert(0x7000_0000_0000, 4096, offset);
        memory.write(0x7000_0000_0000, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!(memory.read(0x7000_0000_0004, 2).unwrap(), [5, 6]);
        assert_eq!(memory.words_of(handle).unwrap(), [0x0403_0201, 0x0807_0605]);
        assert!(memory.read(0x7000_0000_0004, 5).is_err());
        memory.buffers.remove(handle);
        let error = memory.read(0x7000_0000_0000, 1).unwrap_err();
        assert!(error.to_string().contains("0x700000000000"), "{error}");
    }

    #[test]
    fn device_memory_is_reached_by_the_addresses_of_the_heap() {
        let mut memory = Memory::new().unwrap();
        memory.buffers.create(BufferKind::Heap, 64 << 20, None).unwrap();
        memory.buffers.create(BufferKind::Device, 4096, None).unwrap();
        memory.write(HEAP_BASE + 4, &[7]).unwrap();
        assert_eq!(memory.read(HEAP_BASE + 4, 1).unwrap(), [7]);
        assert!(memory.read(HEAP_BASE + 4096, 1).is_err());
    }
}

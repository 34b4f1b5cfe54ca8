//! Buffer objects: which exist, where they are in the window, and how the device addresses them.

use std::collections::BTreeMap;

use crate::uapi::{Errno, INVALID_ADDRESS};

/// Where the heap of device memory begins in the device's addresses.
pub const HEAP_BASE: u64 = 0x4000_0000;

/// The alignment of a heap: the driver requires 64 MiB.
const HEAP_ALIGN: u64 = 64 << 20;
const PAGE: u64 = 4096;

/// `amdxdna_bo_type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferKind {
    /// Memory that host and device share, at the process's own address.
    Share,
    /// The heap that device memory is carved from.
    Heap,
    /// Device memory: instructions and PDIs.
    Device,
    /// A command's packet.
    Command,
}

impl BufferKind {
    /// The kind with this number in the kernel's interface.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Share),
            2 => Some(Self::Heap),
            3 => Some(Self::Device),
            4 => Some(Self::Command),
            _ => None,
        }
    }
}

/// Where a buffer's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At an offset in the window.
    Window(u64),
    /// At an address in the process that made it.
    User(u64),
}

/// A buffer object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    pub kind: BufferKind,
    pub size: u64,
    pub place: Place,
}

impl Buffer {
    /// The device's address, if it is not the process's own.
    pub fn device_address(&self, heap: u64) -> u64 {
        match (self.kind, self.place) {
            (BufferKind::Heap, _) => HEAP_BASE,
            (BufferKind::Device, Place::Window(offset)) => HEAP_BASE + (offset - heap),
            _ => INVALID_ADDRESS,
        }
    }
}

/// The buffers of a client.
#[derive(Debug)]
pub struct Buffers {
    live: BTreeMap<u32, Buffer>,
    next_handle: u32,
    next_offset: u64,
    span: u64,
    heap: Option<(u32, u64)>,
}

impl Buffers {
    /// No buffers, in a window of `span` bytes.
    pub fn new(span: u64) -> Self {
        // Offset 0 stays free: it would be the value of a forgotten map offset.
        Self { live: BTreeMap::new(), next_handle: 1, next_offset: 0x1_0000, span, heap: None }
    }

    /// Makes a buffer and gives it a handle.
    ///
    /// # Errors
    /// `EINVAL` if the size is 0, `EAGAIN` if the heap is full, `ENOMEM` if the window is full.
    pub fn create(&mut self, kind: BufferKind, size: u64, user: Option<u64>) -> Result<u32, Errno> {
        if size == 0 || size > self.span {
            return Err(Errno::INVAL);
        }
        let place = match (kind, user) {
            (BufferKind::Device, _) => Place::Window(self.carve(size)?),
            (_, Some(address)) => Place::User(address),
            (BufferKind::Heap, None) => Place::Window(self.reserve(size, HEAP_ALIGN)?),
            (BufferKind::Share | BufferKind::Command, None) => {
                Place::Window(self.reserve(size, PAGE)?)
            }
        };
        let handle = self.next_handle;
        self.next_handle += 1;
        if let (BufferKind::Heap, Place::Window(offset)) = (kind, place) {
            self.heap = Some((handle, offset));
        }
        self.live.insert(handle, Buffer { kind, size, place });
        Ok(handle)
    }

    /// Removes a buffer and returns it, if it exists.
    pub fn remove(&mut self, handle: u32) -> Option<Buffer> {
        if self.heap.is_some_and(|(heap, _)| heap == handle) {
            self.heap = None;
        }
        self.live.remove(&handle)
    }

    /// The buffer with this handle.
    pub fn get(&self, handle: u32) -> Option<Buffer> {
        self.live.get(&handle).copied()
    }

    /// The offset of the heap in the window; 0 without a heap.
    pub fn heap(&self) -> u64 {
        self.heap.map_or(0, |(_, offset)| offset)
    }

    /// The buffer, other than a heap, that contains a whole range of the window.
    pub fn in_window(&self, offset: u64, len: u64) -> Option<Buffer> {
        self.find(|buffer| match buffer.place {
            Place::Window(start) if buffer.kind != BufferKind::Heap => {
                start <= offset && offset + len <= start + buffer.size
            }
            _ => false,
        })
    }

    /// Whether a buffer at the process's own address contains a whole range.
    pub fn in_user(&self, address: u64, len: u64) -> bool {
        self.find(|buffer| {
            matches!(buffer.place, Place::User(start)
                if start <= address && address.saturating_add(len) <= start + buffer.size)
        })
        .is_some()
    }

    /// The bytes of all buffers outside of the heap.
    pub fn total(&self) -> u64 {
        let own = |buffer: &&Buffer| buffer.kind != BufferKind::Device;
        self.live.values().filter(own).map(|buffer| buffer.size).sum()
    }

    fn find(&self, matches: impl Fn(&Buffer) -> bool) -> Option<Buffer> {
        self.live.values().find(|buffer| matches(buffer)).copied()
    }

    fn reserve(&mut self, size: u64, alignment: u64) -> Result<u64, Errno> {
        let offset = self.next_offset.next_multiple_of(alignment);
        let end = offset + size.next_multiple_of(PAGE);
        if end > self.span {
            return Err(Errno::NOMEM);
        }
        self.next_offset = end;
        Ok(offset)
    }

    /// The first gap of the heap that is large enough.
    fn carve(&self, size: u64) -> Result<u64, Errno> {
        let (handle, heap) = self.heap.ok_or(Errno::AGAIN)?;
        let end = heap + self.live.get(&handle).map_or(0, |buffer| buffer.size);
        let mut taken: Vec<(u64, u64)> = self
            .live
            .values()
            .filter(|buffer| buffer.kind == BufferKind::Device)
            .filter_map(|buffer| match buffer.place {
                Place::Window(offset) => Some((offset, buffer.size)),
                Place::User(_) => None,
            })
            .collect();
        taken.sort_unstable();
        let mut offset = heap;
        for (start, len) in taken {
            if offset + size <= start {
                break;
            }
            offset = (start + len).next_multiple_of(PAGE);
        }
        if offset + size <= end { Ok(offset) } else { Err(Errno::AGAIN) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn device_memory_is_carved_from_the_heap_and_reused() {
        let mut buffers = Buffers::new(1 << 30);
        assert_eq!(buffers.create(BufferKind::Device, 16, None), Err(Errno::AGAIN));
        buffers.create(BufferKind::Heap, 64 * MIB, None).unwrap();
        let first = buffers.create(BufferKind::Device, 40 * MIB, None).unwrap();
        assert_eq!(buffers.create(BufferKind::Device, 40 * MIB, None), Err(Errno::AGAIN));
        let address = buffers.get(first).unwrap().device_address(buffers.heap());
        assert_eq!(address, HEAP_BASE);
        buffers.remove(first);
        buffers.create(BufferKind::Device, 40 * MIB, None).unwrap();
    }

    #[test]
    fn a_range_belongs_to_a_buffer_only_if_all_of_it_does_and_while_it_lives() {
        let mut buffers = Buffers::new(1 << 30);
        let handle = buffers.create(BufferKind::Share, 100, None).unwrap();
        let Place::Window(offset) = buffers.get(handle).unwrap().place else { panic!("no window") };
        assert!(buffers.in_window(offset, 100).is_some());
        assert!(buffers.in_window(offset, 101).is_none());
        buffers.remove(handle);
        assert!(buffers.in_window(offset, 100).is_none());
    }

    #[test]
    fn buffers_without_a_size_or_without_room_are_refused() {
        let mut buffers = Buffers::new(MIB);
        assert_eq!(buffers.create(BufferKind::Share, 0, None), Err(Errno::INVAL));
        assert_eq!(buffers.create(BufferKind::Share, MIB, None), Err(Errno::NOMEM));
    }
}

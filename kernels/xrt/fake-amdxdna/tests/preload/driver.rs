//! A client that calls the driver as XRT's own library does, by the kernel's header.

#![expect(unsafe_code, reason = "ioctls and memory that is shared with a device")]

use std::{
    fs::{File, OpenOptions},
    io,
    os::fd::AsRawFd,
    ptr,
    time::{Duration, Instant},
};

/// `DRM_IOWR('d', number, T)`.
fn request<T>(number: u64) -> u64 {
    3 << 30 | (size_of::<T>() as u64) << 16 | u64::from(b'd') << 8 | number
}

struct Node(File);

impl Node {
    fn open() -> Self {
        Self(OpenOptions::new().read(true).write(true).open("/dev/accel/accel0").unwrap())
    }

    /// Calls an ioctl whose argument is an array of 64-bit words.
    fn call<const N: usize>(&self, number: u64, arg: &mut [u64; N]) -> io::Result<()> {
        let fd = self.0.as_raw_fd();
        // SAFETY: the argument is as large as the request says.
        match unsafe { libc::ioctl(fd, request::<[u64; N]>(number), arg.as_mut_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// `CREATE_HWCTX`: returns the handles of the context and its timeline.
    fn context(&self) -> (u64, u64) {
        let mut arg = [0; 7];
        self.call(0x40, &mut arg).unwrap();
        (arg[6] & 0xffff_ffff, arg[6] >> 32)
    }

    /// `CREATE_BO`, `GET_BO_INFO` and a mapping: makes a buffer of one page.
    fn buffer(&self, kind: u64) -> Page {
        let mut arg = [0, 0, 4096, kind];
        self.call(0x43, &mut arg).unwrap();
        let handle = arg[3] >> 32;
        let mut info = [0, 0, handle, 0, 0, 0];
        self.call(0x44, &mut info).unwrap();
        // SAFETY: a new mapping, at an address that the system chooses.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_LOCKED,
                self.0.as_raw_fd(),
                info[3] as i64,
            )
        };
        assert_ne!(memory, libc::MAP_FAILED);
        Page { handle, words: memory.cast() }
    }

    fn close(&self, page: &Page) {
        self.call(0x09, &mut [page.handle]).unwrap();
    }

    /// `EXEC_CMD`: returns the sequence number.
    fn submit(&self, context: u64, command: &Page) -> u64 {
        let mut arg = [0, 0, context, command.handle, 0, 1, 0];
        self.call(0x46, &mut arg).unwrap();
        arg[6]
    }

    /// `SYNCOBJ_TIMELINE_WAIT`, for at most this time.
    fn wait(&self, timeline: u64, point: u64, limit: Duration) -> io::Result<()> {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: there is room for the answer.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let deadline =
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64 + limit.as_nanos() as u64;
        let (handles, points) = ([timeline as u32], [point]);
        let mut arg = [handles.as_ptr() as u64, points.as_ptr() as u64, deadline, 1, 0];
        self.call(0xca, &mut arg)
    }
}

/// A mapped buffer of 1024 words.
struct Page {
    handle: u64,
    words: *mut u32,
}

impl Page {
    fn write(&self, words: impl IntoIterator<Item = u32>) {
        for (index, word) in words.into_iter().take(1024).enumerate() {
            // SAFETY: within the page.
            unsafe { self.words.add(index).write_volatile(word) };
        }
    }

    fn read(&self, index: usize) -> u32 {
        assert!(index < 1024);
        // SAFETY: within the page.
        unsafe { self.words.add(index).read_volatile() }
    }
}

/// A page with control code that puts three addresses into descriptors of a shim tile, and a command
/// that runs the code (`ERT_START_NPU`).
fn command(node: &Node, args: [&Page; 3]) -> [Page; 2] {
    let code = node.buffer(1);
    let mut words = vec![0x0604_0100, 0x108, 3, 0];
    for (index, arg) in (0..).zip(args) {
        let address = arg.words as u64 + 0x8000_0000;
        words.extend([1, 0, 0x1_d000 + 32 * index, 28, 1024, address as u32]);
        words.push((address >> 32) as u32);
    }
    let size = words.len() as u32 * 4;
    words[3] = size;
    code.write(words);
    let packet = node.buffer(4);
    let address = code.words as u64;
    packet.write([20 << 23 | 5 << 12 | 1, 1, address as u32, (address >> 32) as u32, size, 0]);
    [packet, code]
}

const STATE: u32 = 0xf;

#[test]
#[ignore = "a client with the double preloaded"]
fn adds_two_vectors() {
    let node = Node::open();
    let (context, timeline) = node.context();
    let [a, b, c] = [node.buffer(1), node.buffer(1), node.buffer(1)];
    a.write(0..1024);
    b.write((0..1024).map(|i| i * 10));
    let [packet, _code] = command(&node, [&a, &b, &c]);
    let sequence = node.submit(context, &packet);
    node.wait(timeline, sequence, Duration::from_secs(5)).unwrap();
    assert_eq!(packet.read(0) & STATE, 4);
    assert_eq!([c.read(0), c.read(7), c.read(1023)], [0, 77, 11253]);
}

#[test]
#[ignore = "a client with the double preloaded"]
fn reaches_for_a_closed_buffer() {
    let node = Node::open();
    let (context, _) = node.context();
    let [a, b, c] = [node.buffer(1), node.buffer(1), node.buffer(1)];
    let [packet, _code] = command(&node, [&a, &b, &c]);
    node.close(&b);
    node.submit(context, &packet);
    assert_eq!(packet.read(0) & STATE, 5);
}

#[test]
#[ignore = "a client with the double preloaded"]
fn waits_in_vain() {
    let node = Node::open();
    let (context, timeline) = node.context();
    let [a, b, c] = [node.buffer(1), node.buffer(1), node.buffer(1)];
    let [packet, _code] = command(&node, [&a, &b, &c]);
    let sequence = node.submit(context, &packet);
    let start = Instant::now();
    let error = node.wait(timeline, sequence, Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ETIME));
    assert!(start.elapsed() >= Duration::from_millis(45), "{:?}", start.elapsed());
    assert_eq!(packet.read(0) & STATE, 1);
}

#[test]
#[ignore = "a client with the double preloaded"]
fn opens_twice() {
    let (first, second) = (Node::open(), Node::open());
    let page = first.buffer(1);
    let error = second.call(0x44, &mut [0, 0, page.handle, 0, 0, 0]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    drop(first);
    second.context();
}

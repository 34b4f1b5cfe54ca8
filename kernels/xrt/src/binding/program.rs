//! Programs as files: a full ELF, or an xclbin with its instructions.

#![expect(unsafe_code, reason = "calls the shim")]

use std::{
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    abi::{NpgElf, NpgXclbin},
    handle::Handle,
    shim::{Shim, c_string},
};
use crate::Error;

/// What a context is made from.
#[derive(Clone, Debug)]
pub enum Program {
    /// A full ELF: configuration, kernels and their instructions in one file. Only for npu2.
    Elf(Elf),
    /// An xclbin, and the instructions that one of its kernels runs.
    Xclbin {
        /// The configuration and its kernels.
        xclbin: Xclbin,
        /// The instructions that the kernel runs.
        instructions: Instructions,
    },
}

impl Program {
    /// The kernels; empty if XRT does not report them.
    pub fn kernels(&self) -> &[KernelEntry] {
        match self {
            Self::Elf(elf) => elf.kernels(),
            Self::Xclbin { xclbin, .. } => xclbin.kernels(),
        }
    }

    /// The file that contains the kernels.
    pub fn path(&self) -> &Path {
        match self {
            Self::Elf(elf) => elf.path(),
            Self::Xclbin { xclbin, .. } => xclbin.path(),
        }
    }
}

/// A kernel of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelEntry {
    /// Its name.
    pub name: String,
    /// The number of arguments. In an xclbin, the first three are not buffers.
    pub args: usize,
    /// In an ELF, its instances: a kernel is opened as `name:instance`.
    pub instances: Vec<String>,
}

/// The platform that an ELF was built for: the OS/ABI byte of its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Platform(pub u8);

impl Platform {
    /// npu2, from `xrt::elf::platform`.
    pub const AIE2P: Self = Self(69);
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names of `xrt::elf::platform`.
        match self.0 {
            69 => f.write_str("aie2p"),
            64 | 70 => f.write_str("aie2ps"),
            75 => f.write_str("aie4"),
            86 => f.write_str("aie4a"),
            105 => f.write_str("aie4z"),
            other => write!(f, "OS/ABI {other}"),
        }
    }
}

/// The instructions of an xclbin's kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instructions {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The unit in which their number is passed to the kernel.
    pub unit: InstructionUnit,
}

/// The unit in which a kernel's third argument counts instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InstructionUnit {
    /// Words of four bytes: MLIR-AIR.
    #[default]
    Words,
    /// Bytes: IRON.
    Bytes,
}

impl Instructions {
    /// The value of the kernel's third argument.
    pub fn count(&self) -> u32 {
        let count = match self.unit {
            InstructionUnit::Words => self.bytes.len() / 4,
            InstructionUnit::Bytes => self.bytes.len(),
        };
        count as u32
    }
}

/// An ELF that was read.
#[derive(Clone, Debug)]
pub struct Elf {
    read: Arc<ReadElf>,
}

#[derive(Debug)]
struct ReadElf {
    handle: Handle<NpgElf>,
    path: PathBuf,
    platform: Platform,
    columns: Option<u32>,
    kernels: Vec<KernelEntry>,
}

impl Elf {
    pub(super) fn open(shim: &Arc<Shim>, path: &Path) -> Result<Self, Error> {
        let header = header(path)?;
        let c_path = c_path(path)?;
        let handle = Handle::make(shim, "elf_open", |functions, out, error| {
            // SAFETY: the path ends in a zero, and `out` and `error` are valid for writes.
            unsafe { (functions.npg_elf_open)(c_path.as_ptr(), out, error) }
        })?;
        let (mut full, mut platform, mut columns) = (-1, -1, -1);
        shim.call("elf_info", |functions, error| {
            // SAFETY: the handle lives, and the pointers are to locals of the declared types.
            unsafe {
                (functions.npg_elf_info)(
                    handle.get(),
                    &raw mut full,
                    &raw mut platform,
                    &raw mut columns,
                    error,
                )
            }
        })?;
        let kernels = shim.text("elf_kernels", |functions, text, size, needed, error| {
            // SAFETY: the handle lives, and `text` has `size` bytes.
            unsafe { (functions.npg_elf_kernels)(handle.get(), text, size, needed, error) }
        })?;
        if full == 0 {
            return Err(Error::from(crate::Report {
                call: "elf_info",
                failure: crate::Failure::Exception,
                text: format!("ELF is missing xrt configuration info: {}", path.display()),
            }));
        }
        Ok(Self {
            read: Arc::new(ReadElf {
                handle,
                path: path.to_owned(),
                platform: Platform(u8::try_from(platform).unwrap_or(header[7])),
                columns: u32::try_from(columns).ok(),
                kernels: parse_kernels(&kernels)?,
            }),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.read.path
    }

    /// The platform that it was built for.
    pub fn platform(&self) -> Platform {
        self.read.platform
    }

    /// The number of columns of the array that it takes, if XRT reports it (2.23 and newer).
    pub fn columns(&self) -> Option<u32> {
        self.read.columns
    }

    /// The kernels; empty if XRT does not report them (before 2.23).
    pub fn kernels(&self) -> &[KernelEntry] {
        &self.read.kernels
    }

    pub(super) fn handle(&self) -> &Handle<NpgElf> {
        &self.read.handle
    }
}

/// An xclbin that was read.
#[derive(Clone, Debug)]
pub struct Xclbin {
    read: Arc<ReadXclbin>,
}

#[derive(Debug)]
struct ReadXclbin {
    handle: Handle<NpgXclbin>,
    path: PathBuf,
    kernels: Vec<KernelEntry>,
}

impl Xclbin {
    pub(super) fn open(shim: &Arc<Shim>, path: &Path) -> Result<Self, Error> {
        header(path)?;
        let c_path = c_path(path)?;
        let handle = Handle::make(shim, "xclbin_open", |functions, out, error| {
            // SAFETY: the path ends in a zero, and `out` and `error` are valid for writes.
            unsafe { (functions.npg_xclbin_open)(c_path.as_ptr(), out, error) }
        })?;
        let kernels = shim.text("xclbin_kernels", |functions, text, size, needed, error| {
            // SAFETY: the handle lives, and `text` has `size` bytes.
            unsafe { (functions.npg_xclbin_kernels)(handle.get(), text, size, needed, error) }
        })?;
        Ok(Self {
            read: Arc::new(ReadXclbin {
                handle,
                path: path.to_owned(),
                kernels: parse_kernels(&kernels)?,
            }),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.read.path
    }

    /// Its kernels.
    pub fn kernels(&self) -> &[KernelEntry] {
        &self.read.kernels
    }

    /// The kernel that MLIR-AIR and MLIR-AIE run: the first whose name contains `MLIR_AIE`.
    pub fn mlir_aie_kernel(&self) -> Option<&KernelEntry> {
        self.kernels().iter().find(|kernel| kernel.name.contains("MLIR_AIE"))
    }

    pub(super) fn handle(&self) -> &Handle<NpgXclbin> {
        &self.read.handle
    }
}

/// The first bytes of a file, padded with zeros.
fn header(path: &Path) -> Result<[u8; 16], Error> {
    let unreadable = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NoSuchFile { path: path.to_owned() },
        _ => Error::Unreadable { path: path.to_owned(), source },
    };
    let mut header = Vec::new();
    File::open(path).map_err(unreadable)?.take(16).read_to_end(&mut header).map_err(unreadable)?;
    header.resize(16, 0);
    Ok(std::array::from_fn(|i| header.get(i).copied().unwrap_or(0)))
}

/// A path for C.
fn c_path(path: &Path) -> Result<std::ffi::CString, Error> {
    use std::os::unix::ffi::OsStrExt as _;
    c_string(path.as_os_str().as_bytes())
}

/// Parses the lines of `npg_elf_kernels` and `npg_xclbin_kernels`.
fn parse_kernels(text: &str) -> Result<Vec<KernelEntry>, Error> {
    let entry = |line: &str| {
        let mut fields = line.split('\t');
        Some(KernelEntry {
            name: fields.next()?.to_owned(),
            args: fields.next()?.parse().ok()?,
            instances: fields.map(str::to_owned).collect(),
        })
    };
    text.lines()
        .map(|line| {
            entry(line).ok_or_else(|| Error::Contract { message: format!("the kernel `{line}`") })
        })
        .collect()
}

//! What can go wrong between a program and an NPU: each cause, with what to do about it.

mod classify;
mod report;

use std::path::PathBuf;

pub use report::{Failure, Report};

use crate::XrtVersion;

/// Why XRT, a device, a file or a run cannot be used. Each message says what happened and what to
/// do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // Finding and loading XRT.
    /// No shim was found.
    #[error("{}, which connects to XRT, was not found (searched {}); run `cargo npugate setup xrt`", crate::SHIM_NAME, list(.searched))]
    ShimMissing {
        /// Where it was searched for.
        searched: Vec<PathBuf>,
    },
    /// The shim that was found cannot be loaded.
    #[error("{} cannot be loaded: {message}; run `cargo npugate setup xrt` again", .path.display())]
    ShimBroken {
        /// The shim.
        path: PathBuf,
        /// The loader's message.
        message: String,
    },
    /// The shim is there, but XRT's own library is not.
    #[error(
        "XRT's library cannot be loaded: {message}; install XRT (on Debian and Ubuntu libxrt2 and libxrt-npu2, elsewhere AMD's package), or add its folder to LD_LIBRARY_PATH"
    )]
    XrtMissing {
        /// The loader's message.
        message: String,
    },
    /// The shim has another version of the interface.
    #[error("{} has version {found} of the interface, and this program needs version {expected}; run `cargo npugate setup xrt` of this program's version", .path.display())]
    AbiMismatch {
        /// The shim.
        path: PathBuf,
        /// The version that this crate needs.
        expected: u32,
        /// The version that the shim has.
        found: u32,
    },
    /// The shim was built against another XRT than the one that is loaded.
    #[error("{} was built for XRT {built}, but XRT {loaded} is installed; run `cargo npugate setup xrt` again", .path.display())]
    VersionMismatch {
        /// The shim.
        path: PathBuf,
        /// The version of its headers.
        built: XrtVersion,
        /// The version of the loaded library.
        loaded: XrtVersion,
    },
    /// XRT is older than any version that this crate supports.
    #[error(
        "XRT {found} is too old; install XRT {minimum} or newer, then run `cargo npugate setup xrt` again"
    )]
    XrtTooOld {
        /// The version that was found.
        found: XrtVersion,
        /// The oldest version that is supported.
        minimum: XrtVersion,
    },

    // Opening the device.
    /// No device at this index.
    #[error("XRT finds no NPU; run `cargo npugate doctor` to see what is missing ({0})")]
    NoDevice(Report),
    /// The driver's device node is missing.
    #[error(
        "the NPU's device node is missing; load the driver (`modprobe amdxdna`), or start the container with `--device /dev/accel/accel0` ({0})"
    )]
    NodeMissing(Report),
    /// The user has no permission to open the driver's device node.
    #[error(
        "no permission to open the NPU's device node; join its group (`sudo usermod -aG render $USER`) and log in again ({0})"
    )]
    Permission(Report),
    /// The driver refuses to open the device.
    #[error(
        "the driver refuses to open the NPU, often because of the IOMMU (`amd_iommu=off`, a virtual machine); run `cargo npugate doctor` ({0})"
    )]
    NodeRefused(Report),
    /// The limit on locked memory is too low.
    #[error("the NPU needs {} of locked memory at once, but the limit is {}; raise it with `ulimit -l unlimited`, or add the line `* - memlock unlimited` to /etc/security/limits.d/npu.conf and log in again ({report})", bytes(*.needed), at_most(*.limit))]
    Memlock {
        /// The number of bytes to lock, if it is known.
        needed: Option<u64>,
        /// The number of bytes that this process may lock; `None` without a limit.
        limit: Option<u64>,
        /// What XRT reported.
        report: Report,
    },
    /// The machine has too little memory for a buffer.
    #[error("there is too little memory for {} of the NPU's buffers; free some, or raise `ulimit -l` ({report})", bytes(*.needed))]
    OutOfMemory {
        /// The number of bytes to allocate, if it is known.
        needed: Option<u64>,
        /// What XRT reported.
        report: Report,
    },
    /// The device node belongs to another driver than XRT expects.
    #[error(
        "the driver does not know XRT's requests: it is not amdxdna, or it is much older than XRT; install the amdxdna that comes with this XRT ({0})"
    )]
    WrongDriver(Report),
    /// The driver is too old for the request.
    #[error(
        "the driver does not support this, and ELF programs need amdxdna 0.6 and firmware protocol 6.12; install a newer driver ({0})"
    )]
    DriverTooOld(Report),

    // Contexts.
    /// All contexts or columns are in use.
    #[error(
        "all contexts of the NPU are in use (16 on npu2, 6 on npu1); end the other programs that use it, which `cargo npugate device` lists ({0})"
    )]
    ContextsExhausted(Report),
    /// The driver refuses the context for another reason.
    #[error(
        "the driver refuses to make a context; run `cargo npugate doctor` to find the cause ({0})"
    )]
    ContextRefused(Report),
    /// The driver refuses the program's configuration.
    #[error(
        "the driver refuses the program's configuration (CU or PDI); build the program again, for this NPU ({0})"
    )]
    Configuration(Report),
    /// The xclbin has no partition for the array.
    #[error(
        "the xclbin has no kernel for an NPU, since its AIE_PARTITION is missing; build it with aiecc for npu2 ({0})"
    )]
    NoDpuKernel(Report),

    // Runs.
    /// The driver refuses a command.
    #[error("the driver refuses the command; check the program's arguments and instructions ({0})")]
    Submit(Report),
    /// The device does not respond to the driver.
    #[error(
        "the NPU does not respond to its driver; reload the driver (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`), or power-cycle the machine ({0})"
    )]
    Wedged(Report),
    /// The host's deadline passed while the command was in progress.
    #[error(
        "the run is not done at its deadline; end this process, and if every run times out, raise the deadline or look for a deadlock in the program ({0})"
    )]
    HostTimeout(Report),
    /// The driver gave up on the command.
    #[error(
        "the driver gave up on the run (its limit is 2 s by default); shorten the program, or raise `tdr_timeout_ms` of the module amdxdna ({0})"
    )]
    DeviceTimeout(Report),
    /// The command failed on the device.
    #[error(
        "the run failed on the NPU; check that the program was built for this NPU and that its buffers have the right sizes ({0})"
    )]
    Device(Report),
    /// The command was aborted.
    #[error(
        "the run was aborted by a reset of the driver or by another process; run it again, with nothing else on the NPU ({0})"
    )]
    Aborted(Report),
    /// The firmware did not respond.
    #[error(
        "the NPU's firmware did not respond; reload the driver (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`) ({0})"
    )]
    NoResponse(Report),
    /// The command ended in a state that is neither success nor a known failure.
    #[error(
        "the run ended in an unknown state, and only state 4 is a success; do not use its output ({0})"
    )]
    UnknownState(Report),

    // Programs.
    /// The program has no such kernel.
    #[error("the program has no such kernel; `Program::kernels` lists those that it has ({0})")]
    NoSuchKernel(Report),
    /// A file does not exist.
    #[error("{} does not exist; build the deployment first", .path.display())]
    NoSuchFile {
        /// The file.
        path: PathBuf,
    },
    /// The file is not an ELF.
    #[error("the file is not an ELF; use the `.elf` that aiecc wrote ({0})")]
    NotAnElf(Report),
    /// The ELF is for another machine.
    #[error("the ELF is not for an NPU; use the `.elf` that aiecc wrote for npu2 ({0})")]
    WrongPlatform(Report),
    /// The ELF lacks the configuration of the array.
    #[error(
        "the ELF contains only instructions; build a full ELF (`--elf-format full`), or run it with its xclbin ({0})"
    )]
    PartialElf(Report),
    /// The xclbin is shorter than its header.
    #[error("the xclbin is shorter than its own header; build or copy it again ({0})")]
    ShortXclbin(Report),
    /// The xclbin is not as long as its header says.
    #[error("the xclbin is truncated; build or copy it again ({0})")]
    TruncatedXclbin(Report),
    /// The file is not an xclbin.
    #[error("the file is not an xclbin; use the `.xclbin` that aiecc wrote ({0})")]
    InvalidXclbin(Report),

    // Use of this crate.
    /// The shim refused a call that would crash XRT.
    #[error(
        "the call was refused before it reached XRT; check the number and sizes of the arguments ({0})"
    )]
    Refused(Report),
    /// The XRT that the shim was built against does not support the call.
    #[error(
        "this XRT does not support the call; install XRT 2.23 or newer, then run `cargo npugate setup xrt` again ({0})"
    )]
    Unsupported(Report),
    /// A range that is not within the buffer.
    #[error("bytes {offset}..{} are not within the buffer of {size} bytes; check the argument's size", .offset.saturating_add(*.len))]
    OutOfRange {
        /// The start of the range.
        offset: usize,
        /// The length of the range.
        len: usize,
        /// The size of the buffer.
        size: usize,
    },
    /// An argument that the kernel does not take.
    #[error(
        "kernel `{kernel}` takes {count} buffers, and has none at index {index}; check the program's arguments"
    )]
    NoSuchArg {
        /// The kernel.
        kernel: String,
        /// The requested index.
        index: usize,
        /// The number of buffers.
        count: usize,
    },
    /// A run was started before all of its arguments were set.
    #[error("kernel `{kernel}`: argument {index} of the run is not set; set it before the start")]
    ArgUnset {
        /// The kernel.
        kernel: String,
        /// The first argument that is not set.
        index: usize,
    },
    /// A run was changed or started while it is in progress.
    #[error("kernel `{kernel}`: the run is in progress; wait for it first")]
    InProgress {
        /// The kernel.
        kernel: String,
    },
    /// A wait for a run that was not started.
    #[error("kernel `{kernel}`: the run was not started; start it before the wait")]
    NotStarted {
        /// The kernel.
        kernel: String,
    },
    /// A name or path that contains a zero byte.
    #[error("the name that begins with `{text}` contains a zero byte; remove it")]
    ZeroByte {
        /// The text before the zero byte.
        text: String,
    },
    /// A file that cannot be read.
    #[error("{} cannot be read: {source}; check its permissions", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The shim broke its own contract.
    #[error("the shim's answer makes no sense: {message}; run `cargo npugate setup xrt` again")]
    Contract {
        /// What is wrong with the answer.
        message: String,
    },
    /// Any other failure that XRT reported.
    #[error("XRT failed; run `cargo npugate doctor` to find the cause ({0})")]
    Other(Report),
}

impl Error {
    /// What the shim reported, if the error comes from it.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::NoDevice(report)
            | Self::NodeMissing(report)
            | Self::Permission(report)
            | Self::NodeRefused(report)
            | Self::Memlock { report, .. }
            | Self::OutOfMemory { report, .. }
            | Self::WrongDriver(report)
            | Self::DriverTooOld(report)
            | Self::ContextsExhausted(report)
            | Self::ContextRefused(report)
            | Self::Configuration(report)
            | Self::NoDpuKernel(report)
            | Self::Submit(report)
            | Self::Wedged(report)
            | Self::HostTimeout(report)
            | Self::DeviceTimeout(report)
            | Self::Device(report)
            | Self::Aborted(report)
            | Self::NoResponse(report)
            | Self::UnknownState(report)
            | Self::NoSuchKernel(report)
            | Self::NotAnElf(report)
            | Self::WrongPlatform(report)
            | Self::PartialElf(report)
            | Self::ShortXclbin(report)
            | Self::TruncatedXclbin(report)
            | Self::InvalidXclbin(report)
            | Self::Refused(report)
            | Self::Unsupported(report)
            | Self::Other(report) => Some(report),
            _ => None,
        }
    }
}

/// A number of bytes as text.
fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "an unknown number of bytes".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// A limit in bytes as text.
fn at_most(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// Paths as text.
fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { "nowhere".to_owned() } else { paths.join(", ") }
}

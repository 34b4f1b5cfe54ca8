//! What can go wrong between a program and an NPU: each cause with what to do about it.

mod classify;
mod report;

use std::path::PathBuf;

pub use report::{Failure, Report};

use crate::XrtVersion;

/// Why XRT, a device, a file or a run is of no use. Each says what happened, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // Finding and loading XRT.
    /// No shim was found.
    #[error("there is no {} to reach XRT with, looked at {}; run `cargo npugate setup xrt`", crate::SHIM_NAME, list(.searched))]
    ShimMissing {
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// A shim was found, and cannot be loaded.
    #[error("{} cannot be loaded: {message}; run `cargo npugate setup xrt` again", .path.display())]
    ShimBroken {
        /// The shim.
        path: PathBuf,
        /// What the loader says.
        message: String,
    },
    /// The shim is there and XRT's own library is not.
    #[error(
        "XRT's library cannot be loaded: {message}; install XRT (Debian and Ubuntu: libxrt2 and libxrt-npu2; else AMD's package), or put its folder in LD_LIBRARY_PATH"
    )]
    XrtMissing {
        /// What the loader says.
        message: String,
    },
    /// The shim speaks another version of the interface.
    #[error("{} speaks version {found} of the interface, this program version {expected}; run `cargo npugate setup xrt` of this version", .path.display())]
    AbiMismatch {
        /// The shim.
        path: PathBuf,
        /// The version that this crate speaks.
        expected: u32,
        /// The version that the shim speaks.
        found: u32,
    },
    /// The shim was built against another XRT than is loaded.
    #[error("{} was built for XRT {built}, and XRT {loaded} is installed; run `cargo npugate setup xrt` again", .path.display())]
    VersionMismatch {
        /// The shim.
        path: PathBuf,
        /// The version of its headers.
        built: XrtVersion,
        /// The version of the loaded library.
        loaded: XrtVersion,
    },
    /// XRT is older than anything that this crate was tried with.
    #[error(
        "XRT {found} is too old, {minimum} is needed; install a newer XRT, then run `cargo npugate setup xrt` again"
    )]
    XrtTooOld {
        /// The version that was found.
        found: XrtVersion,
        /// The oldest that will do.
        minimum: XrtVersion,
    },

    // Opening the device.
    /// No device at this index.
    #[error("there is no NPU for XRT to open; `cargo npugate doctor` says what is missing ({0})")]
    NoDevice(Report),
    /// The driver's node is not there.
    #[error(
        "the NPU's node is missing; load the driver (`modprobe amdxdna`), in a container pass `--device /dev/accel/accel0` ({0})"
    )]
    NodeMissing(Report),
    /// The driver's node may not be opened.
    #[error(
        "the NPU's node may not be opened; join its group (`sudo usermod -aG render $USER`) and log in again ({0})"
    )]
    Permission(Report),
    /// The driver refuses to open its node.
    #[error(
        "the driver refuses to open the NPU; look at the IOMMU (`amd_iommu=off`, a virtual machine) with `cargo npugate doctor` ({0})"
    )]
    NodeRefused(Report),
    /// Too little memory may be locked.
    #[error("the NPU needs {} of locked memory at once and the limit is {}; raise it: `ulimit -l unlimited`, or a line `* - memlock unlimited` in /etc/security/limits.d/npu.conf and log in again ({report})", bytes(*.needed), at_most(*.limit))]
    Memlock {
        /// How many bytes were to be locked.
        needed: Option<u64>,
        /// How many bytes this process may lock; none for no limit.
        limit: Option<u64>,
        /// What XRT says.
        report: Report,
    },
    /// The machine has no memory for a buffer.
    #[error("there is no memory for {} of the NPU's buffers; free some, or raise `ulimit -l` ({report})", bytes(*.needed))]
    OutOfMemory {
        /// How many bytes were asked for.
        needed: Option<u64>,
        /// What XRT says.
        report: Report,
    },
    /// The node is not of the driver that XRT talks to.
    #[error(
        "the driver does not know XRT's requests, it is not amdxdna or far older than XRT; install the amdxdna of this XRT ({0})"
    )]
    WrongDriver(Report),
    /// The driver is too old for what is asked.
    #[error(
        "the driver cannot do this; ELF programs need amdxdna 0.6 and firmware protocol 6.12, install a newer driver ({0})"
    )]
    DriverTooOld(Report),

    // Contexts.
    /// All contexts or columns are taken.
    #[error(
        "no context is free on the NPU (16 on npu2, 6 on npu1); end other programs that use it, `cargo npugate device` names them ({0})"
    )]
    ContextsExhausted(Report),
    /// The driver refuses the context for another reason.
    #[error("the driver refuses a context; `cargo npugate doctor` looks for the cause ({0})")]
    ContextRefused(Report),
    /// The driver refuses the program's configuration.
    #[error(
        "the driver refuses the program's configuration (CU or PDI); build it anew for this NPU ({0})"
    )]
    Configuration(Report),
    /// The xclbin has no partition for the array.
    #[error(
        "the xclbin holds no kernel for the NPU, its AIE_PARTITION is missing; build it with aiecc for npu2 ({0})"
    )]
    NoDpuKernel(Report),

    // Runs.
    /// The driver refuses a command.
    #[error("the driver refuses the command; check the program's arguments and instructions ({0})")]
    Submit(Report),
    /// The device does not answer the driver.
    #[error(
        "the NPU does not answer its driver; reload it (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`), or turn the machine off and on ({0})"
    )]
    Wedged(Report),
    /// The host's deadline passed while the command was in progress.
    #[error(
        "the run is not done at its deadline; end this process, and if every run does it, raise the deadline or look for a deadlock in the program ({0})"
    )]
    HostTimeout(Report),
    /// The driver gave up on the command.
    #[error(
        "the driver gave up on the run (its limit is 2 s); shorten the program, or raise `tdr_timeout_ms` of the module amdxdna ({0})"
    )]
    DeviceTimeout(Report),
    /// The command failed on the device.
    #[error(
        "the run failed on the NPU; check that the program was built for this NPU and that its buffers are of the right sizes ({0})"
    )]
    Device(Report),
    /// The command was aborted.
    #[error(
        "the run was aborted, by the driver's reset or another process; run it again alone ({0})"
    )]
    Aborted(Report),
    /// The firmware did not answer.
    #[error(
        "the NPU's firmware did not answer; reload the driver (`sudo modprobe -r amdxdna && sudo modprobe amdxdna`) ({0})"
    )]
    NoResponse(Report),
    /// The command ended in a state that is neither success nor a known failure.
    #[error(
        "the run ended in an unknown state, and only 4 is success; its output is not to be used ({0})"
    )]
    UnknownState(Report),

    // Programs.
    /// The program has no such kernel.
    #[error("the program has no such kernel; `Program::kernels` lists what it has ({0})")]
    NoSuchKernel(Report),
    /// A file is not there.
    #[error("there is no file {}; build the deployment first", .path.display())]
    NoSuchFile {
        /// The file.
        path: PathBuf,
    },
    /// The file is not an ELF.
    #[error("the file is not an ELF; name the `.elf` that aiecc wrote ({0})")]
    NotAnElf(Report),
    /// The ELF is for another machine.
    #[error("the ELF is not for an NPU; name the `.elf` that aiecc wrote for npu2 ({0})")]
    WrongPlatform(Report),
    /// The ELF lacks what configures the array.
    #[error(
        "the ELF holds instructions alone; build it as a full ELF (`--elf-format full`), or run it with its xclbin ({0})"
    )]
    PartialElf(Report),
    /// The xclbin is shorter than its header.
    #[error("the xclbin is shorter than its own header; build or copy it again ({0})")]
    ShortXclbin(Report),
    /// The xclbin is not as long as it says.
    #[error("the xclbin is cut off; build or copy it again ({0})")]
    TruncatedXclbin(Report),
    /// The file is not an xclbin.
    #[error("the file is not an xclbin; name the `.xclbin` that aiecc wrote ({0})")]
    InvalidXclbin(Report),

    // Use of this crate.
    /// The shim refused a call that XRT would not survive.
    #[error("a call was refused before it reached XRT; check argument counts and sizes ({0})")]
    Refused(Report),
    /// The XRT that the shim was built against cannot do this.
    #[error(
        "this XRT cannot do it; install XRT 2.23 or newer, then run `cargo npugate setup xrt` again ({0})"
    )]
    Unsupported(Report),
    /// A range that the buffer does not have.
    #[error("bytes {offset}..{} are not within the buffer's {size}; check the argument's size", .offset.saturating_add(*.len))]
    OutOfRange {
        /// Where the range starts.
        offset: usize,
        /// How long it is.
        len: usize,
        /// How long the buffer is.
        size: usize,
    },
    /// An argument that the kernel does not take.
    #[error(
        "kernel `{kernel}` takes {count} buffers, there is none at {index}; check the program's arguments"
    )]
    NoSuchArg {
        /// The kernel.
        kernel: String,
        /// The position asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A run was started without all of its arguments.
    #[error("kernel `{kernel}`: argument {index} of the run is not set; set it before the start")]
    ArgUnset {
        /// The kernel.
        kernel: String,
        /// The first argument that is not set.
        index: usize,
    },
    /// A run is changed or started while it is in progress.
    #[error("kernel `{kernel}`: the run is in progress; wait for it first")]
    InProgress {
        /// The kernel.
        kernel: String,
    },
    /// A wait for what was not started.
    #[error("kernel `{kernel}`: the run was not started; start it before the wait")]
    NotStarted {
        /// The kernel.
        kernel: String,
    },
    /// A name or path with a zero byte in it.
    #[error("`{text}` has a zero byte in it; name it without")]
    ZeroByte {
        /// The text, up to the zero.
        text: String,
    },
    /// A file that could not be read.
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
        /// In which way.
        message: String,
    },
    /// Anything else that XRT says.
    #[error("XRT failed; `cargo npugate doctor` looks for the cause ({0})")]
    Other(Report),
}

impl Error {
    /// What the shim reported, where the error is one of its.
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

/// Bytes for people.
fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "an unknown number of bytes".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// A limit in bytes for people.
fn at_most(limit: Option<u64>) -> String {
    limit.map_or_else(|| "not known".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// Paths for people.
fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { "no place".to_owned() } else { paths.join(", ") }
}

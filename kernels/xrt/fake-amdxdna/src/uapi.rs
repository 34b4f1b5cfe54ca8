//! The kernel's interface: ioctl numbers and structures of `drm/amdxdna_accel.h`, and the part of
//! `drm.h` that XRT uses.

use std::str::FromStr;

/// An error number of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

impl Errno {
    pub const AGAIN: Self = Self(libc::EAGAIN);
    pub const FAULT: Self = Self(libc::EFAULT);
    pub const INVAL: Self = Self(libc::EINVAL);
    pub const NOENT: Self = Self(libc::ENOENT);
    pub const NOMEM: Self = Self(libc::ENOMEM);
    pub const NOTTY: Self = Self(libc::ENOTTY);
    pub const OPNOTSUPP: Self = Self(libc::EOPNOTSUPP);
    pub const TIME: Self = Self(libc::ETIME);
}

/// The requests of a process to the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ioctl {
    Version,
    GemClose,
    CreateHwctx,
    DestroyHwctx,
    ConfigHwctx,
    CreateBo,
    GetBoInfo,
    SyncBo,
    ExecCmd,
    GetInfo,
    SetState,
    WaitCmd,
    GetArray,
    SyncobjDestroy,
    SyncobjTimelineWait,
}

impl Ioctl {
    /// Each with its number and its name; numbers of drivers begin at 0x40.
    const TABLE: [(Self, u32, &str); 15] = [
        (Self::Version, 0x00, "VERSION"),
        (Self::GemClose, 0x09, "GEM_CLOSE"),
        (Self::CreateHwctx, 0x40, "CREATE_HWCTX"),
        (Self::DestroyHwctx, 0x41, "DESTROY_HWCTX"),
        (Self::ConfigHwctx, 0x42, "CONFIG_HWCTX"),
        (Self::CreateBo, 0x43, "CREATE_BO"),
        (Self::GetBoInfo, 0x44, "GET_BO_INFO"),
        (Self::SyncBo, 0x45, "SYNC_BO"),
        (Self::ExecCmd, 0x46, "EXEC_CMD"),
        (Self::GetInfo, 0x47, "GET_INFO"),
        (Self::SetState, 0x48, "SET_STATE"),
        (Self::WaitCmd, 0x49, "WAIT_CMD"),
        (Self::GetArray, 0x4a, "GET_ARRAY"),
        (Self::SyncobjDestroy, 0xc0, "SYNCOBJ_DESTROY"),
        (Self::SyncobjTimelineWait, 0xca, "SYNCOBJ_TIMELINE_WAIT"),
    ];

    /// The ioctl with this number, which is the lowest byte of a request.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::TABLE.into_iter().find(|entry| entry.1 == number).map(|entry| entry.0)
    }
}

impl FromStr for Ioctl {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let named = Self::TABLE.into_iter().find(|entry| entry.2 == text).map(|entry| entry.0);
        named.or_else(|| u32::from_str_radix(text, 16).ok().and_then(Self::from_number)).ok_or(())
    }
}

/// The state of a command: `ert_cmd_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum CommandState {
    Completed = 4,
    Error = 5,
    Abort = 6,
    Timeout = 8,
    NoResponse = 9,
}

impl CommandState {
    /// The state with this number, if a command can end in it.
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Completed, Self::Error, Self::Abort, Self::Timeout, Self::NoResponse]
            .into_iter()
            .find(|&state| state as u64 == number)
    }
}

/// `amdxdna_drm_create_hwctx`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct CreateHwctx {
    pub ext: u64,
    pub ext_flags: u64,
    pub qos: u64,
    pub umq_bo: u32,
    pub log_bo: u32,
    pub max_opc: u32,
    pub num_tiles: u32,
    pub mem_size: u32,
    pub umq_doorbell: u32,
    pub handle: u32,
    pub syncobj: u32,
}

/// `amdxdna_drm_destroy_hwctx`, `drm_gem_close`, `drm_syncobj_destroy`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Handle {
    pub handle: u32,
    pub pad: u32,
}

/// `amdxdna_drm_config_hwctx`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct ConfigHwctx {
    pub handle: u32,
    pub param: u32,
    pub value: u64,
    pub size: u32,
    pub pad: u32,
}

/// `DRM_AMDXDNA_HWCTX_CONFIG_CU`.
pub const CONFIG_CU: u32 = 0;

/// `amdxdna_cu_config`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct CuConfig {
    pub bo: u32,
    pub func: u8,
    pub pad: [u8; 3],
}

/// `amdxdna_drm_create_bo`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct CreateBo {
    pub flags: u64,
    /// Address of an `amdxdna_drm_va_tbl`, or 0.
    pub vaddr: u64,
    pub size: u64,
    pub kind: u32,
    pub handle: u32,
}

/// `amdxdna_drm_va_tbl` with one entry.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct VaTable {
    pub dmabuf_fd: i32,
    pub num_entries: u32,
    pub vaddr: u64,
    pub len: u64,
}

/// `AMDXDNA_INVALID_ADDR`.
pub const INVALID_ADDRESS: u64 = u64::MAX;

/// `amdxdna_drm_get_bo_info`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct BoInfo {
    pub ext: u64,
    pub ext_flags: u64,
    pub handle: u32,
    pub pad: u32,
    pub map_offset: u64,
    pub vaddr: u64,
    pub xdna_addr: u64,
}

/// `amdxdna_drm_sync_bo`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct SyncBo {
    pub handle: u32,
    pub direction: u32,
    pub offset: u64,
    pub size: u64,
}

/// `amdxdna_drm_exec_cmd`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct ExecCmd {
    pub ext: u64,
    pub ext_flags: u64,
    pub hwctx: u32,
    pub kind: u32,
    /// The handle itself, if there is one command.
    pub commands: u64,
    /// Address of an array of handles.
    pub args: u64,
    pub command_count: u32,
    pub arg_count: u32,
    pub seq: u64,
}

/// `amdxdna_drm_wait_cmd`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct WaitCmd {
    pub hwctx: u32,
    /// Milliseconds; 0 is no limit.
    pub timeout: u32,
    pub seq: u64,
}

/// `amdxdna_drm_get_info`, `amdxdna_drm_set_state`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Info {
    pub param: u32,
    pub size: u32,
    pub buffer: u64,
}

/// `amdxdna_drm_get_array`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct GetArray {
    pub param: u32,
    pub element_size: u32,
    pub num_element: u32,
    pub pad: u32,
    pub buffer: u64,
}

/// `drm_syncobj_timeline_wait`, without the hint at the end that newer kernels have.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct TimelineWait {
    pub handles: u64,
    pub points: u64,
    /// Nanoseconds of the monotonic clock.
    pub deadline: i64,
    pub count: u32,
    pub flags: u32,
    pub first_signaled: u32,
    pub pad: u32,
}

/// `drm_version`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Version {
    pub major: i32,
    pub minor: i32,
    pub patch: i32,
    pub pad: i32,
    pub name_len: u64,
    pub name: u64,
    pub date_len: u64,
    pub date: u64,
    pub desc_len: u64,
    pub desc: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `sizeof` of each, which `DRM_IOWR` encodes, from a C compiler and the kernel's header.
    #[test]
    fn structures_are_as_large_as_the_kernels() {
        assert_eq!(size_of::<CreateHwctx>(), 56);
        assert_eq!(size_of::<Handle>(), 8);
        assert_eq!(size_of::<ConfigHwctx>(), 24);
        assert_eq!(size_of::<CreateBo>(), 32);
        assert_eq!(size_of::<BoInfo>(), 48);
        assert_eq!(size_of::<SyncBo>(), 24);
        assert_eq!(size_of::<ExecCmd>(), 56);
        assert_eq!(size_of::<WaitCmd>(), 16);
        assert_eq!(size_of::<Info>(), 16);
        assert_eq!(size_of::<GetArray>(), 24);
        assert_eq!(size_of::<TimelineWait>(), 40);
        assert_eq!(size_of::<Version>(), 64);
    }

    #[test]
    fn an_ioctl_has_the_kernels_number() {
        assert_eq!(Ioctl::from_number(0x4a), Some(Ioctl::GetArray));
        assert_eq!(Ioctl::from_number(0x4b), None);
        assert_eq!("CREATE_BO".parse(), Ok(Ioctl::CreateBo));
    }
}
